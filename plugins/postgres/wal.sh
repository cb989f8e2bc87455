# What a block with point_in_time sends off the machine: wal.sh TOOL ARGUMENT…
#   archive PATH NAME   what the server calls for each segment of WAL that is full (archive_command)
#   follow              beside a primary: the WAL of the last seconds, and base backups
#   fetch NAME PATH     what a restore calls for each segment (restore_command)
# All of it goes into folders, the outbox and the bases, from which the server of the platform takes it. No name is there before its file
# is whole. This never makes the database wait: beyond the limits WAL is dropped, which a new base backup ends.
set -eu
. /berth/lib.sh

home=$backups/point-in-time
outbox=$home/outbox
# The same for base backups, which do not count in the limit of the WAL.
bases=$home/bases
# Until when everything was in the outbox: "MILLISECONDS SEGMENT BYTES SYSTEM".
mark=$home/mark
# What was dropped since the last base backup: "SECONDS FIRST SECONDS LAST COUNT".
dropped=$home/dropped
# The newest base backup: "SECONDS SYSTEM".
newest=$home/newest
# The newest segment that a primary has archived, by cluster and timeline.
archived=$home/archived
segments=$PGDATA/pg_wal
pod=$(own_ordinal)

# Limits: KiB of the outbox (and a tenth of the disk, where that is less), and segments that the server has yet to archive.
outbox_most=${PG_OUTBOX_KIB:-5242880}
unarchived_most=64

system() { LC_ALL=C pg_controldata -D "$PGDATA" | sed -n 's/^Database system identifier: *//p'; }

# has_room: whether the outbox may grow. `why` says what is in the way.
has_room() {
  set -- $(df -Pk "$outbox" | sed -n 2p)
  total=$2 free=$4
  most=$((total / 10))
  [ "$most" -lt "$outbox_most" ] || most=$outbox_most
  held=$(du -sk "$outbox")
  held=${held%%[!0-9]*}
  why=
  if [ "$held" -ge "$most" ]; then
    why="$((held / 1024)) MiB wait for the target already"
  elif [ "$free" -lt $((total / 20)) ]; then
    why="the disk is nearly full"
  else
    return 0
  fi
  return 1
}

is_behind() {
  set -- "$segments/archive_status/"*.ready
  [ "$#" -gt "$unarchived_most" ] || return 1
  why="$# segments of WAL wait to be archived"
}

# put PATH NAME: a packed copy in the outbox.
put() {
  new=$outbox/.new-$pod-$2
  if gzip -1 -c <"$1" >"$new" && { sync "$new" 2>/dev/null || sync; } && mv "$new" "$outbox/$2"; then return 0; fi
  rm -f "$new"
  return 1
}

# drop NAME: this segment will be missing. The next base backup needs none from before it.
drop() {
  say "WAL $1 is not kept for point in time: $why. A new base backup ends the gap"
  now=$(date +%s)
  first="$now $1" count=0
  if [ -s "$dropped" ]; then
    read -r at name _ _ count <"$dropped" || true
    first="$at $name"
  fi
  echo "$first $now $1 $((count + 1))" >"$dropped.new" 2>/dev/null && mv "$dropped.new" "$dropped" || true
}

archive() {
  path=$1 name=$2
  case $name in
    *.history) archive_history ;;
    # The segment of the new timeline begins with the same.
    *.partial | *.backup) ;;
    *) archive_segment ;;
  esac
}

# A standby keeps what its primary can no longer: all of it once more would be work for nothing.
archive_segment() {
  system=$(system)
  archived=$archived-$system-${name%????????????????}
  last=
  [ ! -r "$archived" ] || read -r last <"$archived" || true
  seconds=0
  if [ -e "$standby_signal" ]; then
    [ -z "$last" ] || [ "$(printf '%s\n%s\n' "$name" "$last" | LC_ALL=C sort | tail -n 1)" != "$last" ] || return 0
  else
    # When it was written last: every commit until then is in it, or before it.
    seconds=$(stat -c %Y "$path")
  fi
  bytes=$(wc -c <"$path" | tr -d ' ')
  why="it cannot be written"
  if is_behind || ! has_room; then
    drop "$name"
  elif ! put "$path" "$system.$name.0.$bytes.$((seconds * 1000)).gz"; then
    # The server asks again, unless the disk is what fails.
    if has_room; then return 1; fi
    drop "$name"
  fi
  if [ ! -e "$standby_signal" ]; then
    echo "$name" >"$archived.new" && mv "$archived.new" "$archived" || true
  fi
}

# Its last line is "PARENT LSN WHY". When it was made is when the timeline began.
archive_history() {
  set -- $(sed -n '/^[0-9]/p' "$path" | tail -n 1)
  parent=$1 left=$2
  put "$path" "$(system).${name%.history}.history.$parent.$(hex_of "$left").$(stat -c %Y "$path")000.gz" || is_behind
}

# hex_of LSN: "0/3000028" as 16 digits, which sort.
hex_of() { printf '%08X%08X' "0x${1%/*}" "0x${1#*/}"; }

# Every few seconds one line "MILLISECONDS SEGMENT BYTES": until that time, less a second, everything is in WAL before that
# byte. One session that stays: a program each time would cost more than the work.
watch_query="select (extract(epoch from clock_timestamp()) * 1000)::bigint - 1000, (pg_walfile_name_offset(at)).*
  from (select pg_current_wal_flush_lsn() as at) as flushed where not pg_is_in_recovery() \\watch ${PG_TAIL_SECONDS:-3}"

follow() {
  while sleep 1; do
    if [ -e "$standby_signal" ]; then
      sleep 4
      continue
    fi
    rm -rf "$home/base" "$outbox/.new-$pod-"*
    system=$(system)
    segment=
    tried=0
    printf '%s\n' "$watch_query" | PGOPTIONS=$not_waiting PGHOST=$sockets PGPORT=$port PGUSER=$superuser \
      psql -XAtq -F ' ' -d postgres 2>/dev/null | while read -r at name bytes; do
      [ -n "$bytes" ] || continue
      tail_to "$at" "$name" "$bytes" || say "the newest WAL cannot be put into the outbox; trying again"
      if [ -e "$ensured" ] && [ $((at / 1000 - tried)) -ge 60 ] && is_base_due $((at / 1000)); then
        tried=$((at / 1000))
        base &
      fi
    done || true
  done
}

# tail_to MILLISECONDS SEGMENT BYTES: puts what is new in the segment into the outbox.
tail_to() {
  # The end of a segment is counted as the beginning of it before PostgreSQL 17.
  [ "$3" -gt 0 ] || return 0
  if [ "$segment" != "$2" ]; then
    segment=$2
    sent=0
  fi
  if [ "$3" -gt "$sent" ]; then
    has_room || return 0
    new=$outbox/.new-$pod-tail
    tail -c "+$((sent + 1))" "$segments/$2" | head -c "$(($3 - sent))" | gzip -1 -c >"$new" || return 1
    mv "$new" "$outbox/$system.$2.$sent.$3.$1.gz" || return 1
    sent=$3
  fi
  echo "$1 $2 $3 $system" >"$mark.new" && mv "$mark.new" "$mark"
}

# is_base_due SECONDS: there is none of this cluster, it is old, or WAL was dropped after it and the outbox is being emptied.
is_base_due() {
  [ ! -e "$home/base" ] || return 1
  # One at a time: the last one still waits for the target.
  set -- "$1" "$bases"/*
  [ ! -e "$2" ] || return 1
  made=0 of=
  [ ! -s "$newest" ] || read -r made of <"$newest" || true
  if [ "$of" = "$system" ] && [ $(($1 - made)) -lt "$PG_BASE_SECONDS" ]; then
    [ -s "$dropped" ] || return 1
    has_room && [ "$held" -lt $((most / 4)) ]
  fi
}

# Below the disk's last tenth no base backup is made: it is as large as the data, packed.
base() {
  set -- $(df -Pk "$outbox" | sed -n 2p)
  data=$(du -sk "$PGDATA")
  data=${data%%[!0-9]*}
  if [ $(($4 - data)) -lt $(($2 / 10)) ]; then
    say "no base backup: the disk has no room for $((data / 1024)) MiB beside what it needs; see: info $PG_SCOPE/$PG_NAME"
    return 0
  fi
  at=$(date -u +%s)
  label=$(date -u -d "@$at" +%Y%m%dT%H%M%SZ)
  say "making the base backup $label"
  gap=$(cat "$dropped" 2>/dev/null || true)
  if make_base; then
    # A gap before it does not matter to it; one that began meanwhile does.
    [ "$gap" != "$(cat "$dropped" 2>/dev/null || true)" ] || rm -f "$dropped"
    echo "$at $system" >"$newest.new" && mv "$newest.new" "$newest"
    say "the base backup $label waits to be shipped"
  else
    say "the base backup $label failed: $(tail -n 3 "$home/log" | tr '\n' ' ')"
  fi
  rm -rf "$home/base"
}

make_base() {
  mkdir -p "$home/base"
  PGPASSFILE=$passfile LC_ALL=C pg_basebackup -D "$home/base" -F t -Z 1 -X none -c fast -l "berth $label" \
    -h 127.0.0.1 -p "$port" -U "$maintenance" -w 2>"$home/log" || return 1
  # The first file of the archive, which says where WAL begins.
  gzip -dc "$home/base/base.tar.gz" 2>/dev/null | head -c 4096 | tr -d '\000' >"$home/label"
  start=$(sed -n 's/.*START WAL LOCATION: \([0-9A-F/]*\) .*/\1/p' "$home/label")
  timeline=$(sed -n 's/^START TIMELINE: \([0-9]*\).*/\1/p' "$home/label")
  [ -n "$start" ] && [ -n "$timeline" ] || return 1
  stop=$(local_value 'select pg_current_wal_lsn()') || return 1
  size=$(local_value "select setting from pg_settings where name = 'wal_segment_size'") || return 1
  about_cluster >"$home/base/about" || return 1
  # Without names it waits for all that any program of the machine has written.
  sync "$home/base/"* 2>/dev/null || sync
  prefix=$system.base.$label
  for file in "$home/base/"*; do
    case ${file##*/} in
      about) ;;
      *) mv "$file" "$bases/$prefix.${file##*/}" || return 1 ;;
    esac
  done
  # The last one: with it the base backup is complete.
  mv "$home/base/about" \
    "$bases/$prefix.about.$timeline.$(hex_of "$start").$(hex_of "$stop").$(date +%s)000.$size" || return 1
}

# What a restore has to meet again: lines "key value".
about_cluster() {
  ask -F ' ' <<'SQL'
select 'version', current_setting('server_version');
select 'collation', datname, datcollate from pg_database where datallowconn order by 2;
select 'collversion', datname, version from (select datname, to_jsonb(d) ->> 'datcollversion' as version from pg_database d) as each
  where version is not null order by 2;
select distinct 'collversion', 'of ' || case collprovider when 'i' then 'ICU' else 'libc' end, collversion
  from pg_collation where collversion is not null order by 2, 3;
select 'tablespace', oid, spcname from pg_tablespace where spcname !~ '^pg_' order by 2;
select format('\connect %I', datname) || E'\nselect ''extension'', current_database(), extname, extversion from pg_extension order by 3;'
  from pg_database where datallowconn and not datistemplate \g /tmp/berth-about
\i /tmp/berth-about
SQL
  . /berth/facts.sh
  sorting
}

# fetch NAME PATH: in the folder of a restore the last segment may end early; the server wants whole ones.
fetch() {
  case $1 in
    *.history) gzip -dc "$fetched/$1.gz" >"$2" ;;
    *)
      [ -e "$fetched/$1.gz" ] || return 1
      gzip -dc "$fetched/$1.gz" >"$2" && truncate -s "$(cat "$fetched/segment-bytes")" "$2"
      ;;
  esac
}

tool=${1:?say which tool}
shift
fetched=$backups/restore
case $tool in
  fetch) "$tool" "$@" ;;
  archive | follow)
    find_programs
    umask 077
    mkdir -p "$outbox" "$bases"
    "$tool" "$@"
    ;;
  *) die "no tool \"$tool\"" ;;
esac
