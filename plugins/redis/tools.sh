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
  info=$(ask info)
  echo "epoch=$epoch"
  echo "primary=$primary"
  echo "backups=$(list_backups | wc -l | tr -d ' ')"
  echo "version=$(info_field redis_version)"
  echo "keys=$(ask dbsize)"
  echo "bytes=$(info_field used_memory)"
  echo "replid=$(info_field master_replid)"
  case $(info_field role) in
    master)
      echo "role=primary"
      echo "position=$(info_field master_repl_offset)"
      info_field 'slave[0-9]*' | sed 's/^ip=\([^,]*\),.*state=\([^,]*\),offset=\([0-9]*\).*/standby=\1 \2 \3/'
      ;;
    slave)
      echo "role=standby"
      echo "position=$(info_field slave_repl_offset)"
      echo "streaming=$([ "$(info_field master_link_status)" = up ] && echo t || echo f)"
      ;;
    *) die "the server does not say whether it takes writes or follows" ;;
  esac
}

# info_field NAME: one field of that one answer of the server.
info_field() { printf '%s\n' "$info" | sed -n "s/^$1://p"; }

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
  backup | restore | list_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | job) ;;
  *) die "no tool \"$tool\"" ;;
esac
as_owner /berth/tools.sh "$tool" "$@"
find_programs
case $tool in
  backup | restore | list_backups | delete_backup | dump_file | cancel_backups | import_part | drop_import | import_backup | job) . /berth/backup.sh ;;
esac
load_state
"$tool" "$@"
