#include "cuda_case.h"
#include "attention_case.h"
static double off(const float *x, const float *y, size_t n){double a=0,b=0;for(size_t i=0;i<n;i++){a+=((double)x[i]-(double)y[i])*((double)x[i]-(double)y[i]);b+=(double)y[i]*(double)y[i];}return sqrt(a/(b>0?b:1));}
static void one(const char*name,int T,int D,double p,int window){
 struct attention a=make(name,2,T,2,D,p,window);
 struct outputs e={0};
 run(&k_ref,&a,false,&e);
 float *eo=e.item[0].data,*ed=e.item[1].data;
 size_t n=a.n,sn=k_attention_saved(&a.shape);
 void*q,*o,*s,*g,*d;
 assert_ok(cuda->alloc(&q,3*n*4));assert_ok(cuda->alloc(&o,n*4));assert_ok(cuda->alloc(&s,sn*4));assert_ok(cuda->alloc(&g,n*4));assert_ok(cuda->alloc(&d,3*n*4));
 assert_ok(cuda->upload(q,a.qkv,3*n*4));assert_ok(cuda->upload(g,a.dout,n*4));
 assert_ok(cuda->attention_forward(o,s,q,&a.shape));
 assert_ok(cuda->attention_backward(d,g,o,s,q,&a.shape));
 float*fo=malloc(n*4),*fd=malloc(3*n*4);
 assert_ok(cuda->download(fo,o,n*4));assert_ok(cuda->download(fd,d,3*n*4));
 double part[3];
 for(int w=0;w<3;w++){double x=0,y=0;for(size_t i=0;i<3*n;i++)if((int)(i/(size_t)(2*D)%3)==w){double t=(double)fd[i]-(double)ed[i];x+=t*t;y+=(double)ed[i]*(double)ed[i];}part[w]=sqrt(x/(y>0?y:1));}
 printf("%-11s T %4d D %3d p %4g w %3d: out %.5f dq %.5f dk %.5f dv %.5f\n",name,T,D,p,window,off(fo,eo,n),part[0],part[1],part[2]);
 cuda->release(q);cuda->release(o);cuda->release(s);cuda->release(g);cuda->release(d);free(fo);free(fd);outputs_free(&e);drop(&a);
}
static int open_bf16(void **state){(void)state;return k_find("cuda",&cuda)||cuda->open(1,K_PRECISION_BF16);}
static void t(void**state){(void)state;
 static const char*names[]={"softmax","lssa","rw_softmax","lssar"};
 for(int k=0;k<4;k++){one(names[k],1,64,15,0);one(names[k],17,8,15,0);one(names[k],65,24,15,0);one(names[k],130,64,15,0);one(names[k],200,64,15,40);one(names[k],200,64,2.5,0);one(names[k],200,64,1,7);one(names[k],150,128,3,100);one(names[k],300,32,15,0);}
}
int main(void){const struct CMUnitTest tests[]={cmocka_unit_test(t)};return cmocka_run_group_tests(tests,open_bf16,close_cuda);}
