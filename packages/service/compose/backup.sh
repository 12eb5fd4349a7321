#!/bin/sh
# Backs up the database of compose.yaml and restores it. Usage: backup.sh now | daily | check | restore FILE
#   PGHOST, PGUSER, PGDATABASE   the database, as for psql
#   PGPASSWORD_FILE              file with its password
#   BACKUPS, BACKUPS_KEPT        folder of the backups, and how many it keeps
# restore renames the database and puts the backup in its place, so it fails while a replica is connected.
set -eu
# A backup shows who was paid for what.
umask 077
PGPASSWORD=$(cat "$PGPASSWORD_FILE")
export PGPASSWORD

# It checks each step, because `set -e` has no effect in a function that is a condition.
back_up() {
  name=sotto-$(date -u +%Y%m%dT%H%M%SZ).dump
  rm -f "$BACKUPS"/.sotto-*.dump
  # An interrupted backup never has the name of a complete one.
  if ! { pg_dump --format=custom --file="$BACKUPS/.$name" && mv "$BACKUPS/.$name" "$BACKUPS/$name"; }; then
    rm -f "$BACKUPS/.$name"
    return 1
  fi
  echo "backed up: $name"
  ls "$BACKUPS" | grep '^sotto-[0-9TZ]*\.dump$' | sort -r | tail -n "+$((BACKUPS_KEPT + 1))" | while read -r old; do
    rm "$BACKUPS/$old"
  done
}

# Whether there is a backup of the last $1 minutes.
newer_than() { test -n "$(find "$BACKUPS" -name 'sotto-*.dump' -mmin "-$1")"; }

restore() {
  aside=$PGDATABASE-$(date -u +%Y%m%dT%H%M%SZ)
  psql() { command psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres "$@"; }
  psql --command="drop database if exists \"$PGDATABASE-restoring\"" --command="create database \"$PGDATABASE-restoring\""
  pg_restore --single-transaction --exit-on-error --no-owner --dbname="$PGDATABASE-restoring" "$BACKUPS/$1"
  psql --single-transaction --command="alter database \"$PGDATABASE\" rename to \"$aside\"" \
    --command="alter database \"$PGDATABASE-restoring\" rename to \"$PGDATABASE\""
  echo "restored: $1; the database before it is now $aside"
}

case "${1:-} $#" in
  "now 1") back_up ;;
  "daily 1")
    while true; do
      # It looks again every five minutes: after a failure, or because the container was started again since the last backup.
      newer_than 1440 || back_up || true
      sleep 300
    done
    ;;
  "check 1") newer_than 1560 ;;
  "restore 2") restore "$2" ;;
  *)
    echo "usage: backup.sh now | daily | check | restore FILE" >&2
    exit 2
    ;;
esac
