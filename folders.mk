# folders.mk - the folders of the source, their submodules, and who may use whom: strict, no cycles. The
# Makefile links by this table and `make lint` checks it against symbols and #include lines.
# study/ asks the questions of one paper with the product, and no other folder USES it.
# A folder: NAME, PREFIX of its library's external symbols (A|B: one of these), and whose libraries and
# headers it USES beside its own. A submodule, a subfolder whose sources go into the folder's library: it USES
# headers of these submodules, and of the folder itself. X+: X and all that X uses; >SUBMODULE: of another folder.
define FOLDER_TABLE
base              orr_
formula           sr_             base
stage             orr_            base
sim               sim_            formula stage base
sim/data          -               sim
kernels           k_              base
kernels/ref       -               kernels
kernels/cpu       -               kernels/ref kernels
kernels/cuda      -               kernels
model             gpt_|cluster_   kernels sim+
model/ranks       -               model
model/text        -               model
model/evaluate    -               model
model/train       -               model/ranks model
finetune          ft_             model+
probe             probe_          finetune+ >model/evaluate
probe/core        -               probe
probe/attention   -               probe/core+
probe/evaluate    -               probe/core+
probe/orbits      -               probe/core+
probe/linear      -               probe/orbits+
probe/rollout     -               probe/orbits+
probe/intervene   -               probe/linear+
probe/labels      -               probe/linear+
probe/inductive   -               probe/labels+
probe/planets     -               probe/orbits+
probe/exchange    -               probe/inductive+ probe/intervene probe/planets
probe/length      -               probe/core+
symreg            sr_             formula stage base
symreg/value      -
symreg/fit        -               symreg/value+
symreg/select     -               symreg/fit+
symreg/seed       -               symreg/select+
symreg/evolve     -               symreg/seed+
symreg/layout     -               symreg
symreg/solve      -               symreg/evolve+ symreg/layout symreg
symreg/table      -               symreg/solve+ symreg
symreg/motion     -               symreg/table+ symreg
symreg/dynamics   -               symreg/motion+ symreg
symreg/orbit      -               symreg/table+ symreg
tracks            tracks_         symreg sim+ >symreg/layout >symreg/motion
laws              law             symreg sim+ >symreg/solve >symreg/motion
figures           report_         formula stage base
compare           compare_        figures+
api               orrery_|api_    compare figures symreg finetune+ >symreg/solve >symreg/motion >kernels/ref
api/orrery        -
study             verdict_        compare+
endef
# FOLDERS and SUBMODULES; of each NAME_PREFIX, NAME_USES (itself first) and NAME_ENTERS
define row
$(if $(findstring /,$1),SUBMODULES,FOLDERS) += $1
$1_PREFIX := $2
$1_USES := $(strip $1 $(foreach u,$(filter-out >%,$3),$(if $(filter %+,$u),$($(u:+=)_USES),$u)))
$1_ENTERS := $(patsubst >%,%,$(filter >%,$3))
endef
row_of = $(eval $(call row,$(word 1,$1),$(word 2,$1),$(wordlist 3,$(words $1),$1)))
$(foreach r,$(subst $(newline), ,$(subst $(space),?,$(FOLDER_TABLE))),$(call row_of,$(subst ?, ,$r)))
print-folders: # for scripts: a line "folder NAME PREFIX ENTERS : USES" or "submodule NAME : USES" each
	@printf '%s\n' $(foreach f,$(FOLDERS),'folder $f $($f_PREFIX) $($f_ENTERS) : $($f_USES)') \
	    $(foreach r,$(SUBMODULES),'submodule $r : $($r_USES)')
