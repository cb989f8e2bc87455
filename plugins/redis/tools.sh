# What the plugin's commands, the probes and the backup jobs call in a pod: tools.sh TOOL ARGUMENT…
set -eu
. /berth/lib.sh
. /berth/kit/handover.sh

# The probe: the server answers, and a standby has had everything once. That its primary is gone does not unready it. It
# runs all day, so it starts one program only.
ready() {
  load_place
  answers=$(printf 'ping\ninfo replication\n' | "$client" --no-auth-warning -p "$port" 2>&1) || exit 1
  case $answers in
    PONG*role:master*) return 0 ;;
    PONG*master_link_status:up*) [ -e "$synced" ] || mkdir "$synced" ;;
    PONG*) [ -e "$synced" ] ;;
    *) exit 1 ;;
  esac
}

# Lines "key=value", and "standby=ADDRESS STATE OFFSET" of each that follows. Fails where the server does not answer: whoever
# does not say that it follows is no standby.
status() {
  . /berth/backup.sh
  count_backups
  echo "epoch=$epoch"
  echo "primary=$primary"
  echo "backups=$count"
  echo "failed_backups=$failed"
  answer=$(printf 'info\ndbsize\n' | ask)
  printf '%s\n' "$answer" | tell_status || die "the server does not say whether it takes writes or follows"
}

# Reads the answers to INFO and DBSIZE and prints what `status` tells of them. Without a program: it is asked for often.
tell_status() {
  role=
  while IFS=: read -r field value; do
    case $field in
      redis_version) echo "version=$value" ;;
      used_memory) echo "bytes=$value" ;;
      master_replid) echo "replid=$value" ;;
      role) role=$value ;;
      master_link_status) link=$value ;;
      master_repl_offset) sent=$value ;;
      slave_repl_offset) got=$value ;;
      slave[0-9]*) tell_standby "$value" ;;
      *[!0-9]* | '') ;;
      *) echo "keys=$field" ;;
    esac
  done
  case $role in
    master) printf 'role=primary\nposition=%s\n' "${sent:-}" ;;
    slave) printf 'role=standby\nposition=%s\nstreaming=%s\n' "${got:-}" "$([ "${link:-}" = up ] && echo t || echo f)" ;;
    *) return 1 ;;
  esac
}

# tell_standby "ip=ADDRESS,port=N,state=STATE,offset=N,…"
tell_standby() {
  address=${1#*ip=}
  phase=${1#*state=}
  offset=${1#*offset=}
  echo "standby=${address%%,*} ${phase%%,*} ${offset%%,*}"
}

# hold MS: writes wait, so that standbys can get to the end.
hold() { ask client pause "$1" write >/dev/null; }

# unhold: writes go on at once.
unhold() { ask client unpause >/dev/null; }

# promote EPOCH ORDINAL: this pod takes writes. The word of it is kept first: a restart must not follow the old one.
promote() {
  remember "$1" "$2"
  ask replicaof no one >/dev/null
}

# follow EPOCH ORDINAL: this pod gets its changes from that one from now on.
follow() {
  remember "$1" "$2"
  ask replicaof "$(host_of "$2")" "$port" >/dev/null
}

# password EPOCH USER VARIABLE: the password is on standard input.
password() {
  read -r new
  old=$REDISCLI_AUTH
  secrets=$(printf '%s\n%s=%s\n' "$(printf '%s\n' "$secrets" | grep -v "^$3=")" "$3" "$new" | sed '/^$/d')
  if [ "$2" = default ]; then
    printf 'ACL SETUSER default resetpass >%s\nAUTH %s\nCONFIG SET masterauth %s\n' "$new" "$new" "$new"
  else
    printf 'ACL SETUSER %s resetpass >%s\n' "$2" "$new"
  fi | REDISCLI_AUTH=$old "$client" --no-auth-warning -p "$port" | tr -d '\r' | grep -v '^OK$' >&2 && die "the server refused the password"
  remember "$1" "$primary"
}

shell() { exec "$client" --no-auth-warning -p "$port" "$@"; }

tool=${1:?say which tool}
shift
[ "$tool" != halt ] || {
  halt
  exit 0
}
case $tool in
  ready)
    find_programs
    ready
    exit
    ;;
  status | hold | unhold | promote | follow | password | shell) ;;
  backup | check | restore | list_backups | prune_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | job | due_job) ;;
  *) die "no tool \"$tool\"" ;;
esac
as_owner /berth/tools.sh "$tool" "$@"
find_programs
case $tool in
  backup | check | restore | list_backups | prune_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | job | due_job) . /berth/backup.sh ;;
esac
load_state
"$tool" "$@"
