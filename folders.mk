# folders.mk - the folders of the source, their rooms, and who may use whom: strict, no cycles. The
# Makefile links by this table and `make lint` checks it against symbols and #include lines.
#
# A folder NAME is one library, build/libNAME.a. It has a line in each of
#   FOLDERS       the name
#   NAME_PREFIX   how each of its external symbols begins
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

FOLDERS += kernels
kernels_PREFIX := k_
kernels_USES := kernels base
ROOMS += $(addprefix kernels/,ref cpu cuda)
kernels/ref_USES := kernels/ref kernels
kernels/cpu_USES := kernels/cpu kernels/ref kernels
kernels/cuda_USES := kernels/cuda kernels

# what cluster/mpi holds is a plugin, compiled where MPI is (mpi.mk)
FOLDERS += cluster
cluster_PREFIX := cluster_
cluster_USES := cluster stage base
ROOMS += cluster/mpi
cluster/mpi_USES := cluster/mpi cluster
cluster_PLUGIN := $(wildcard cluster/mpi/*.c)

FOLDERS += model
model_PREFIX := gpt_
model_USES := model cluster sim kernels stage base

FOLDERS += finetune
finetune_PREFIX := ft_
finetune_USES := finetune model cluster sim kernels stage base

FOLDERS += probe
probe_PREFIX := probe_
probe_USES := probe finetune model cluster sim kernels stage base

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
