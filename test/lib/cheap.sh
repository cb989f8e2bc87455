# Sourced by lane.sh: programs that cost less in a lane than on a machine and do the same.

# cheapen_restic: half a second of CPU is what restic takes to make a repository, and a sixth of one is what each command takes to
# derive the key of a usual one. In here, a repository in a folder is made with a key that costs nothing. All else is restic itself.
cheapen_restic() {
  restic=$(command -v restic) || return 0
  : >"$lane_dir/restic"
  mount --bind "$restic" "$lane_dir/restic"
  cat >"$lane_dir/cheap-restic" <<EOF
#!/bin/sh
case "\$*\$RESTIC_REPOSITORY" in
  init/*) [ -e "\$RESTIC_REPOSITORY/config" ] || ! "$(command -v bun)" "$checkout/test/lib/cheap-repository.ts" 2>/dev/null || exit 0 ;;
esac
exec "$lane_dir/restic" "\$@"
EOF
  chmod 755 "$lane_dir/restic" "$lane_dir/cheap-restic"
  mount --bind "$lane_dir/cheap-restic" "$restic"
}

# cheapen_runc FOLDER: puts a runc there that starts containers with the same network and the same filter of system calls, for
# less CPU. Docker has the daemon start itself for each container, 75 MB, only to send one line to the daemon: here
# set-network sends that line. And the filter is not made for processes of 32 bits as well, which no image in here has.
# Where Docker asks for something else, runc gets that.
cheapen_runc() {
  runc=$(command -v runc) || return 0
  mkdir -p "$1"
  cat >"$1/runc" <<EOF
#!/bin/sh
case " \$* " in
  *" create --bundle "*)
    bundle=\${*#* create --bundle }
    sed -i -e 's#"path":"/proc/[0-9]*/exe","args":\\["libnetwork-setkey"#"path":"$1/set-network","args":["libnetwork-setkey"#' \\
      -e 's#"SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"#"SCMP_ARCH_X86_64"#' "\${bundle%% *}/config.json"
    ;;
esac
exec "$runc" "\$@"
EOF
  # As SetExternalKey in sandbox_externalkey_unix.go of Docker. Any other answer than "success" is what went wrong.
  cat >"$1/set-network" <<'EOF'
#!/usr/bin/perl
# The module Socket would take four times what the rest takes.
my ($root, $container, $controller) = @ARGV;
$root =~ s/^-exec-root=//;
my ($pid) = join("", <STDIN>) =~ /"pid":\s*(\d+)/ or die "no pid";
socket(my $daemon, 1, 1, 0) or die "$!";
connect($daemon, pack("S a*", 1, "$root/libnetwork/$controller.sock\0")) or die "$!";
syswrite($daemon, qq({"ContainerID":"$container","Key":"/proc/$pid/ns/net"})) or die "$!";
sysread($daemon, my $answer, 1024);
$answer eq "success" or die $answer;
EOF
  chmod 755 "$1/runc" "$1/set-network"
}
