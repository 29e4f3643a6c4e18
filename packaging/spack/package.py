# Orrery as a package of Spack, without CUDA. From a folder packages/orrery/ of a repository of
# yours (spack repo create, spack repo add), of the source that lies in FOLDER:
#     spack dev-build --source-path FOLDER orrery@develop

from spack.package import *


class Orrery(MakefilePackage):
    """Testbed for physics world models on planetary orbits: orbits under any force law,
    transformers that are trained on them, and formulas by symbolic regression."""

    homepage = "https://example.org/orrery"
    git = "https://example.org/orrery.git"

    # The source is MIT; what is linked with GSL is distributed under GPL-3.
    license("MIT AND GPL-3.0-or-later", checked_by="orrery")

    version("develop", branch="main")

    variant("mpi", default=False, description="Training by several ranks")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("cmocka", type="build")
    depends_on("cjson")
    depends_on("gnuplot", type=("build", "run"))
    depends_on("gsl@2:")
    depends_on("mpi", when="+mpi")
    depends_on("muparser")
    depends_on("onednn")
    depends_on("xxhash")
    depends_on("zlib-api")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    @property
    def words(self):
        """What make is given."""
        mpi = "1" if self.spec.satisfies("+mpi") else "0"
        return ["CUDA=0", "NOVA=0", f"MPI={mpi}", f"PREFIX={self.prefix}"]

    def build(self, spec, prefix):
        make(*self.words, "all")

    def install(self, spec, prefix):
        make(*self.words, "install")

    def test_world(self):
        """every stage of a small world"""
        orrery = Executable(self.prefix.bin.orrery)
        orrery("check")
