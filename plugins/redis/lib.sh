# Sourced by serve.sh and tools.sh: what both know about the pod. Plain sh, no more than an image has anyway.

block_kind=redis
block_scope=$REDIS_SCOPE
block_name=$REDIS_NAME
owner=redis
env_prefix=${REDIS_ENV_PREFIX:-BERTH}
. /berth/kit/pod.sh

volume=/data
conf=$volume/berth.conf
state=$volume/berth.state
port=${REDIS_PORT:-6379}
# A folder, since the probe may run as root: making one follows no link.
synced=/tmp/berth-synced

# server and client: the programs of the image.
find_programs() {
  PATH=$PATH:/usr/local/bin:/usr/bin:/bin
  export PATH
  for name in redis valkey; do
    server=$name-server
    client=$name-cli
    if command -v "$server" >/dev/null 2>&1; then return 0; fi
  done
  die "no Redis in this image: redis-server is not on PATH"
}

environment_secrets() { printenv | grep '^REDIS_PASSWORD\(_[A-Z0-9_]*\)\{0,1\}=[A-Za-z0-9]*$' | sort; }

# Who is primary, and the password of the machinery. The container's environment is as old as the container and the file as
# old as the last command that reached it: the higher epoch is the newer word. The probe calls it all day: no program.
load_place() {
  epoch=${REDIS_EPOCH:-0}
  primary=${REDIS_PRIMARY_ORDINAL:-0}
  if is_drilled; then primary=$(own_ordinal); fi
  REDISCLI_AUTH=${REDIS_PASSWORD:-}
  case $REDISCLI_AUTH in *[!A-Za-z0-9]*) REDISCLI_AUTH= ;; esac
  is_kept=
  export REDISCLI_AUTH
  [ -f "$state" ] || return 0
  while IFS='=' read -r key value; do
    case $key in
      epoch)
        [ "${value:-0}" -gt "$epoch" ] || return 0
        epoch=$value
        is_kept=yes
        ;;
      primary) primary=$value ;;
      REDIS_PASSWORD) REDISCLI_AUTH=$value ;;
    esac
  done <"$state"
}

# The same, and all passwords.
load_state() {
  load_place
  if [ -n "$is_kept" ]; then secrets=$(grep '^REDIS_PASSWORD' "$state"); else secrets=$(environment_secrets); fi
}

secret_of() { printf '%s\n' "$secrets" | sed -n "s/^$1=//p"; }

save_state() {
  umask 077
  printf 'epoch=%s\nprimary=%s\n%s\n' "$epoch" "$primary" "$secrets" >"$state.new"
  # Without a name it waits for all that any program of the machine has written.
  sync "$state.new" 2>/dev/null || sync
  mv "$state.new" "$state"
}

# ask COMMAND…: of the server in this pod; without a command, those on standard input. An error that the server tells is one
# here, too.
ask() {
  answer=$("$client" --no-auth-warning -p "$port" "$@" 2>&1) || {
    say "$answer"
    return 1
  }
  case $answer in
    ERR* | NOAUTH* | WRONGPASS* | LOADING* | NOPERM* | MISCONF* | *"Connection refused"*)
      say "$answer"
      return 1
      ;;
  esac
  printf '%s\n' "$answer" | tr -d '\r'
}

# One field of INFO: field SECTION NAME.
field() { ask info "$1" | sed -n "s/^$2://p"; }
