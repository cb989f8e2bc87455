# Sourced before backups.sh: which backups there are, what their checks found, and which of them stay. Beside the data are two files
# that SHA256SUMS leaves out:
#   .order  a number that grows with each backup: a clock may be set back
#   .check  what the last check found: "passed|failed|unchecked TIME REASON…"
# Backups of older versions have neither.

damaged="its files are not what was written"

# intact ID: whether its files are what was written.
intact() { (cd "$backups/$1" && sha256sum -c SHA256SUMS) >/dev/null 2>&1; }

# write_check ID VERDICT [REASON]
write_check() {
  printf '%s %s %s\n' "$2" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(one_line "${3:-}")" >"$backups/$1/.check.new" &&
    mv "$backups/$1/.check.new" "$backups/$1/.check" || say "what the check of $1 found cannot be stored"
}

one_line() { printf '%s' "$1" | tr -s '\n\t ' ' ' | cut -c 1-500; }

# read_check FOLDER: into verdict, checked and reason. Without a program: the status of a pod is asked for often.
read_check() {
  verdict= checked= reason=
  { read -r verdict checked reason <"$1/.check"; } 2>/dev/null || true
  case $verdict in passed | failed) ;; *) verdict=unchecked ;; esac
}

# One more than the last. Those of older versions have none, and count as older than all that have.
next_order() {
  last=0
  for file in "$backups"/[0-9]*Z/.order "$backups"/.new-*/.order; do
    read_order "${file%/*}"
    [ "$order" -le "$last" ] || last=$order
  done
  echo $((last + 1))
}

# read_order FOLDER: into order.
read_order() {
  order=
  { read -r order <"$1/.order"; } 2>/dev/null || true
  case $order in '' | *[!0-9]* | ???????????*) order=0 ;; esac
}

# prune_backups KEEP SECONDS [dry]: prints what goes. 0 seconds are no limit.
prune_backups() { prune "$1" "$2" "${3:-named}"; }

# prune KEEP [SECONDS] [named|dry]: the newest KEEP stay, without those that are older than that. What failed its check counts
# for nothing: it displaces no other, and goes when a newer one has passed. The newest that passed stays in any case, and so
# does the newest of all, so that no clock can take the last good one. What an interrupted backup or check left goes after a
# day.
prune() {
  oldest=$(oldest_of "${2:-0}")
  gone=$(outdated_backups "$1" "$oldest")
  # Nothing goes for one that has become unreadable since its check.
  while [ -n "$gone" ] && good=$(newest_good) && [ -n "$good" ] && [ "$good" != "${whole:-}" ] && ! intact "$good"; do
    say "backup $good is damaged: $damaged"
    write_check "$good" failed "$damaged"
    read_check "$backups/$good"
    # Else this would go on for ever.
    [ "$verdict" = failed ] || die "nothing is removed"
    gone=$(outdated_backups "$1" "$oldest")
  done
  for each in $gone; do
    [ -z "${3:-}" ] || echo "$each"
    [ "${3:-}" != dry ] || continue
    say "removing backup $each: $1 are kept"
    remove_backup "$each"
  done
  [ "${3:-}" != dry ] || return 0
  find "$backups" -maxdepth 1 \( -name '.new-*' -o -name '.check-*' -o -name '.import-*' \) -mtime +0 -exec rm -rf {} +
  rm -rf "$backups"/.gone-*
}

# The name that a backup of that age has.
oldest_of() {
  if [ "$1" -gt 0 ]; then
    at=$(($(date +%s) - $1))
    [ "$at" -ge 0 ] || at=0
    date -u -d "@$at" +%Y%m%dT%H%M%SZ
  else
    echo 00000000T000000Z
  fi
}

# outdated_backups KEEP OLDEST: names of those that do not stay.
outdated_backups() {
  list_backups | awk -F '\t' -v keep="$1" -v oldest="$2" '$3 == "failed" {
    if (passed || failed >= keep || (NR > 1 && $1 < oldest)) print $1
    failed++
    next
  }
  {
    if ((count >= keep || (count > 0 && $1 < oldest)) && ($3 != "passed" || passed)) print $1
    count++
    if ($3 == "passed") passed++
  }'
}

newest_good() {
  list_backups | awk -F '\t' '$3 == "passed" { print $1; found = 1; exit } $3 == "unchecked" && maybe == "" { maybe = $1 }
    END { if (!found && maybe != "") print maybe }'
}

# Half a backup has no name: a removal may be cut off.
remove_backup() {
  rm -rf "${backups:?}/.gone-$1"
  mv "$backups/$1" "$backups/.gone-$1" 2>/dev/null || return 0
  rm -rf "${backups:?}/.gone-$1"
}

# Newest first: ID, BYTES, VERDICT, TIME OF THE CHECK, REASON, WHAT IT HOLDS, with tabs between them.
list_backups() {
  tab=$(printf '\t')
  for folder in "$backups"/[0-9]*Z; do
    [ -f "$folder/SHA256SUMS" ] || continue
    read_order "$folder"
    read_check "$folder"
    what=$(describe_backup "$folder" | tr '\t' ' ') || what="0 "
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$order" "${folder##*/}" "${what%% *}" "$verdict" "$checked" "$reason" "${what#* }"
  done | sort -t "$tab" -k 1,1nr -k 2,2r | cut -f 2-
}

# count_backups: how many there are, in `count`, and how many of them failed their check, in `failed`. Without a program: the
# status of a pod is asked for often.
count_backups() {
  count=0
  failed=0
  for folder in "$backups"/[0-9]*Z; do
    [ -f "$folder/SHA256SUMS" ] || continue
    count=$((count + 1))
    read_check "$folder"
    [ "$verdict" != failed ] || failed=$((failed + 1))
  done
}

# known ID: fails where there is no such backup, or not as it was written.
known() {
  is_backup "$1"
  intact "$1" && return 0
  write_check "$1" failed "$damaged"
  die "backup $1 is damaged: $damaged"
}

is_backup() {
  is_backup_name "$1"
  [ -f "$backups/$1/SHA256SUMS" ] || die "no backup \"$1\"; see: backups"
}

delete_backup() {
  is_backup_name "$1"
  [ -d "$backups/$1" ] || die "no backup \"$1\"; see: backups"
  remove_backup "$1"
}

is_backup_name() {
  case $1 in */* | .* | '') die "\"$1\" is not a backup" ;; esac
}
