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

FOLDERS += sim
sim_PREFIX := sim_
sim_USES := sim base
ROOMS += sim/data
sim/data_USES := sim/data sim

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
cluster_USES := cluster base
ROOMS += cluster/mpi
cluster/mpi_USES := cluster/mpi cluster
cluster_PLUGIN := $(wildcard cluster/mpi/*.c)

FOLDERS += model
model_PREFIX := gpt_
model_USES := model cluster sim kernels base

FOLDERS += finetune
finetune_PREFIX := ft_
finetune_USES := finetune model cluster sim kernels base

FOLDERS += probe
probe_PREFIX := probe_
probe_USES := probe finetune model cluster sim kernels base

# rooms from the lowest to the highest: each may use those below, and csv the umbrella symreg.h
FOLDERS += symreg
symreg_PREFIX := sr_
symreg_USES := symreg base
ROOMS += $(addprefix symreg/,expr value fit judge propose evolve csv)
symreg/expr_USES := symreg/expr
symreg/value_USES := symreg/value $(symreg/expr_USES)
symreg/fit_USES := symreg/fit $(symreg/value_USES)
symreg/judge_USES := symreg/judge $(symreg/fit_USES)
symreg/propose_USES := symreg/propose $(symreg/judge_USES)
symreg/evolve_USES := symreg/evolve $(symreg/propose_USES)
symreg/csv_USES := symreg/csv $(symreg/evolve_USES) symreg

FOLDERS += laws
laws_PREFIX := law
laws_USES := laws symreg sim base
laws_ENTERS := symreg/csv

FOLDERS += figures
figures_PREFIX := report_
figures_USES := figures base

FOLDERS += verdict
verdict_PREFIX := verdict_
verdict_USES := verdict figures base

# the table for scripts, one line a folder ("folder NAME PREFIX ENTERS : USES") or room ("room NAME
# : USES")
print-folders:
	@printf '%s\n' $(foreach f,$(FOLDERS),'folder $f $($f_PREFIX) $($f_ENTERS) : $($f_USES)') \
	    $(foreach r,$(ROOMS),'room $r : $($r_USES)')
.PHONY: print-folders
