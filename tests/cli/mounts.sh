# mounts.sh - sourced as the first thing by a test that mounts: it is run again in a name space of
# its own, whose mounts end with it. $MOUNTS is yes there, and no where there can be none.
if [ -z "${MOUNTS:-}" ]; then
    export MOUNTS=no
    for how in "unshare -m" "unshare -rm"; do
        if $how bash -c 'mount -t tmpfs -o size=64k none /mnt' 2>/dev/null; then
            MOUNTS=yes exec $how bash "$0"
        fi
    done
fi
# room SIZE: a file system of that size in the folder $disk, which ends with the test; or another
# size of it
mounted=
room() {
    [ -n "$mounted" ] || mkdir "$disk" || return 1
    mount -o "${mounted:+remount,}size=$1" -t tmpfs none "$disk" || return 1
    mounted=yes
    at_exit() {
        umount "$disk"
    }
}
