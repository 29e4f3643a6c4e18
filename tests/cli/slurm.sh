# slurm.sh - a Slurm of one node on this machine, for a test. Sourced after lib.sh and mpi.sh.
#
# Debian's slurm-wlm and munge, started by root without a service manager, in $WORK/slurm; the node
# claims four processors, however many there are.

# slurm_missing: says why there can be none; false where there can
slurm_missing() {
    local name
    for name in slurmctld slurmd munged srun sbatch; do
        if ! command -v $name >/dev/null; then
            echo "no $name (Debian: slurm-wlm, munge)"
            return
        fi
    done
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    [ -e /usr/lib/*/slurm-wlm/mpi_pmix.so ] || { echo "no PMIx in Slurm"; return; }
    return 1
}

slurm_start() {
    local dir=$WORK/slurm host
    host=$(hostname -s)
    mkdir -p "$dir/state" "$dir/spool" "$dir/munge" || return
    head -c 128 /dev/urandom >"$dir/munge/key"
    chown -R munge: "$dir/munge"
    chmod 600 "$dir/munge/key"
    chmod 711 "$WORK" "$dir" "$dir/munge" # its socket is for all
    cat >"$dir/slurm.conf" <<END
ClusterName=orrery
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=20
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$dir/slurm.conf
    setpriv --reuid munge --regid munge --clear-groups munged --force --foreground \
        --key-file "$dir/munge/key" --socket "$dir/munge/sock" --pid-file "$dir/munge/pid" \
        --log-file "$dir/munge/log" --seed-file "$dir/munge/seed" >"$dir/munged.out" 2>&1 &
    slurm_pids=$!
    pid=$!
    until_true test -S "$dir/munge/sock"
    slurmctld -D >"$dir/slurmctld.out" 2>&1 &
    slurm_pids+=" $!"
    slurmd -D >"$dir/slurmd.out" 2>&1 &
    slurm_pids+=" $!"
    until_true slurm_idle
}

slurm_idle() {
    [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]
}

slurm_stop() {
    scancel --full --user root 2>/dev/null
    kill $slurm_pids 2>/dev/null
    wait $slurm_pids 2>/dev/null
}
