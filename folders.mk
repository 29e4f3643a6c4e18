# folders.mk - the folders of the source, their rooms, and who may use whom: strict, no cycles. The
# Makefile links by this table and `make lint` checks it against symbols and #include lines.
#
# A folder NAME is one library, build/libNAME.a. It has a line in each of
#   FOLDERS       the name
#   NAME_PREFIX   how each of its external symbols begins (A|B: one of these)
#   NAME_USES     the folders whose libraries and headers it may use, itself first
# A room FOLDER/ROOM is a subfolder; the sources of a folder may also lie in rooms, and all of them
# go into the folder's library. It has a line in each of
#   ROOMS             FOLDER/ROOM
#   FOLDER/ROOM_USES  the rooms whose headers it may include, itself first; FOLDER for the headers
#                     that lie in the folder itself
# Other folders include NAME/*.h only. NAME_ENTERS lists the rooms of other folders whose headers
# the folder NAME may include as well.

FOLDERS :=
ROOMS :=

FOLDERS += base
base_PREFIX := orr_
base_USES := base

# what a run is: its settings, the command line, what artefacts were made from
FOLDERS += stage
stage_PREFIX := orr_
stage_USES := stage base

FOLDERS += sim
sim_PREFIX := sim_
sim_USES := sim stage base
ROOMS += sim/data
sim/data_USES := sim/data sim

FOLDERS += kernels
kernels_PREFIX := k_
kernels_USES := kernels base
ROOMS += $(addprefix kernels/,ref cpu cuda)
kernels/ref_USES := kernels/ref kernels
kernels/cpu_USES := kernels/cpu kernels/ref kernels
kernels/cuda_USES := kernels/cuda kernels

# model/ranks/mpi.c is a plugin, compiled where MPI is (MPI_PLUGIN)
FOLDERS += model
model_PREFIX := gpt_|cluster_
model_USES := model sim kernels stage base
model_PLUGIN := model/ranks/mpi.c
ROOMS += $(addprefix model/,ranks text evaluate train)
model/ranks_USES := model/ranks model
model/text_USES := model/text model
model/evaluate_USES := model/evaluate model
model/train_USES := model/train model/ranks model

FOLDERS += finetune
finetune_PREFIX := ft_
finetune_USES := finetune model sim kernels stage base

FOLDERS += probe
probe_PREFIX := probe_
probe_USES := probe finetune model sim kernels stage base
probe_ENTERS := model/evaluate
# core is for every probe, orbits for those of labelled sequences; the others are probes
ROOMS += $(addprefix probe/,core attention evaluate orbits linear rollout intervene labels \
                            inductive planets length)
probe/core_USES := probe/core probe
probe/attention_USES := probe/attention $(probe/core_USES)
probe/evaluate_USES := probe/evaluate $(probe/core_USES)
probe/length_USES := probe/length $(probe/core_USES)
probe/planets_USES := probe/planets $(probe/core_USES)
probe/orbits_USES := probe/orbits $(probe/core_USES)
probe/rollout_USES := probe/rollout $(probe/orbits_USES)
probe/linear_USES := probe/linear $(probe/orbits_USES)
probe/intervene_USES := probe/intervene $(probe/linear_USES)
probe/labels_USES := probe/labels $(probe/linear_USES)
probe/inductive_USES := probe/inductive $(probe/labels_USES)

# rooms from the lowest to the highest: each may use those below, and table the umbrella symreg.h
FOLDERS += symreg
symreg_PREFIX := sr_
symreg_USES := symreg stage base
ROOMS += $(addprefix symreg/,expr value fit select seed evolve table)
symreg/expr_USES := symreg/expr
symreg/value_USES := symreg/value $(symreg/expr_USES)
symreg/fit_USES := symreg/fit $(symreg/value_USES)
symreg/select_USES := symreg/select $(symreg/fit_USES)
symreg/seed_USES := symreg/seed $(symreg/select_USES)
symreg/evolve_USES := symreg/evolve $(symreg/seed_USES)
symreg/table_USES := symreg/table $(symreg/evolve_USES) symreg

FOLDERS += laws
laws_PREFIX := law
laws_USES := laws symreg sim stage base
laws_ENTERS := symreg/table

FOLDERS += figures
figures_PREFIX := report_
figures_USES := figures stage base

FOLDERS += verdict
verdict_PREFIX := verdict_
verdict_USES := verdict figures stage base

# the table for scripts, one line a folder ("folder NAME PREFIX ENTERS : USES") or room ("room NAME
# : USES")
print-folders:
	@printf '%s\n' $(foreach f,$(FOLDERS),'folder $f $($f_PREFIX) $($f_ENTERS) : $($f_USES)') \
	    $(foreach r,$(ROOMS),'room $r : $($r_USES)')
.PHONY: print-folders
