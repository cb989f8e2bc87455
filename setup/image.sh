# Sourced after dockerd.sh: an image made from the busybox of this machine, so that no image registry is needed.

# import_busybox DOCKER_HOST REF: a small root file system with a shell, httpd, nc and friends.
import_busybox() {
  need_commands busybox=busybox-static
  image_tree=$(mktemp -d "${TMPDIR:-/tmp}/berth-image.XXXXXX")
  mkdir -p "$image_tree/bin" "$image_tree/etc" "$image_tree/tmp" "$image_tree/www"
  chmod 1777 "$image_tree/tmp"
  copy_program "$(command -v busybox)" "$image_tree/bin/busybox"
  for applet in sh ash sleep cat httpd nc wget env id ps kill touch true false echo ls test mkdir rm cp mv chmod chown \
    head tail grep sed awk date hostname printf seq dd wc stty od tr sync; do
    ln -s busybox "$image_tree/bin/$applet"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$image_tree/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$image_tree/etc/group"
  tar -C "$image_tree" --owner=0 --group=0 -cf - . |
    docker -H "$1" import --change 'CMD ["sleep","1000000"]' --change 'ENV PATH=/bin' - "$2" >/dev/null ||
    die "docker import of $2 failed; see its text above"
  rm -rf "$image_tree"
}

# copy_program FROM TO: with the libraries it is linked to, when it is not static.
copy_program() {
  cp "$1" "$2"
  ldd "$1" 2>/dev/null | sed -n 's#.*[[:space:]]\(/[^ ]*\) (0x.*#\1#p' | while read -r library; do
    mkdir -p "$image_tree${library%/*}"
    cp "$library" "$image_tree$library"
  done
}
