# Sourced by the scripts of a plugin: what a pod knows of itself, and whom it goes on as. Plain sh, no more than an image has
# anyway. Before it these are set:
#   block_kind    for texts: "postgres"
#   block_scope, block_name
#   owner         user of the image that the server runs as; owner_needed says why it cannot be root, where it cannot
#   env_prefix    of the variables that the platform gives to pods

# The volume that all pods of the block share.
backups=/backups

say() { printf '%s: %s\n' "$block_kind" "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# Whether this is root. Without a program: every tool asks, and starting one costs more than the rest of the question.
is_root() {
  while read -r key _ effective _; do
    if [ "$key" = Uid: ]; then
      [ "$effective" = 0 ]
      return
    fi
  done </proc/self/status
  return 1
}

# Whether the image has the owner. Users that are not in the file are known to `id` only.
has_owner() {
  while IFS=: read -r user _; do
    [ "$user" != "$owner" ] || return 0
  done 2>/dev/null </etc/passwd
  id "$owner" >/dev/null 2>&1
}

# Whether this is root, and there is a user to go on as.
becomes_owner() {
  is_root || return 1
  if has_owner; then return 0; fi
  [ -z "${owner_needed:-}" ] || die "the image has no user \"$owner\" and $owner_needed; use an image that has one"
  return 1
}

# own_folders FOLDER…: they are the owner's; an image of another maker may have given the user another number.
own_folders() {
  becomes_owner || return 0
  mkdir -p "$@"
  find "$@" -prune ! -user "$owner" -exec chown -R "$owner" {} +
}

# as_owner SCRIPT ARGUMENT…: goes on as that user, where there is one.
as_owner() {
  becomes_owner || return 0
  for program in gosu su-exec; do
    if command -v "$program" >/dev/null 2>&1; then exec "$program" "$owner" sh "$@"; fi
  done
  if has_full_setpriv; then exec setpriv --reuid="$owner" --regid="$owner" --init-groups sh "$@"; fi
  exec su -s /bin/sh "$owner" -- "$@"
}

# The setpriv of BusyBox changes no user.
has_full_setpriv() {
  command -v setpriv >/dev/null 2>&1 || return 1
  ! command -v busybox >/dev/null 2>&1 || ! [ "$(command -v setpriv)" -ef "$(command -v busybox)" ]
}

# as_first SCRIPT: goes on as that user in a process of its own, and hands it the signals. The first process of a container
# gets none that it has no trap for, and a trap does not outlive an exec: a stop that comes early would be lost. So the trap
# is there before the process is, and a signal that comes between the two is handed on afterwards.
as_first() {
  child=
  stopped=
  trap 'stopped=1; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' TERM INT QUIT
  (
    trap - TERM INT QUIT
    as_owner "$1" owner && exec sh "$1" owner
  ) &
  child=$!
  [ -z "$stopped" ] || kill -TERM "$child" 2>/dev/null || true
  outlive "$child" || exit $?
  exit 0
}

# outlive PID: waits until that child has ended, whatever signals come meanwhile; its exit code.
outlive() {
  code=0
  wait "$1" || code=$?
  while kill -0 "$1" 2>/dev/null; do
    code=0
    wait "$1" || code=$?
  done
  return "$code"
}

own_ordinal() { eval "printf %s \"\${${env_prefix}_REPLICA_ORDINAL:-0}\""; }

# Whether this pod is a copy in a drill: it is alone, and nothing of it leaves.
is_drilled() { eval "[ -n \"\${${env_prefix}_DRILL:-}\" ]"; }

# host_of ORDINAL: name of another pod of the block.
host_of() { printf '%s-%s.%s' "$block_name" "$1" "$block_scope"; }

# look_up_soon FILE: looking up a pod that is down takes two seconds at most, for programs that this shell starts. The engine
# asks other name servers about such a pod; where none answers, glibc waits for 10 seconds. Does nothing where the environment
# has options, or where FILE, which is resolv.conf, has such ones. musl knows no such variable, and waits for 5 seconds.
look_up_soon() {
  [ -z "${RES_OPTIONS:-}" ] || return 0
  while read -r word options || [ -n "$word" ]; do
    [ "$word" = options ] || continue
    case " $options" in *" timeout:"* | *" attempts:"*) return 0 ;; esac
  done 2>/dev/null <"$1" || :
  RES_OPTIONS="timeout:1 attempts:2"
  export RES_OPTIONS
}

# Addresses of all pods of the block, this one included.
peers() {
  { getent ahosts "$block_name.$block_scope" || nslookup "$block_name.$block_scope"; } 2>/dev/null |
    grep -o '[0-9]\{1,3\}\.[0-9]\{1,3\}\.[0-9]\{1,3\}\.[0-9]\{1,3\}' | sort -u
}
