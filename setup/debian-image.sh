# Sourced after packages.sh: images made from Debian packages, so that no image registry is needed. For tests.
# `checkout` names the checkout.

# What a shell script can count on, as in the images that people use.
debian_basics="dash coreutils gzip tar sed grep mawk findutils util-linux libc-bin debianutils"
# Large, and needed by nothing that is tested.
debian_unwanted="libllvm14 libz3-4 locales libc-l10n dpkg debconf usrmerge adduser ucf"

# debian_postgres CACHE: sets debian_tar to PostgreSQL as Debian packages it; needs the network where CACHE has it not.
debian_postgres() {
  debian_image "$1/postgres" postgresql-15 tzdata
}

# debian_redis CACHE: the same for Redis.
debian_redis() {
  debian_image "$1/redis" redis-server redis-tools
}

# import_debian DOCKER_HOST REF: debian_tar as an image.
import_debian() {
  docker -H "$1" import --change 'CMD ["sleep","1000000"]' \
    --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8' \
    "$debian_tar" "$2" >/dev/null || die "docker import of $2 failed; see its text above"
}

# debian_image CACHE PACKAGE…: the packages with all they depend on, as CACHE-<hash>.tar.
debian_image() {
  debian_newest "$1" || debian_make "$@"
}

# debian_newest CACHE: the tar of an earlier run, made by this very script.
debian_newest() {
  debian_tar=$1-$(cksum <"$checkout/setup/debian-image.sh" | cut -d ' ' -f 1).tar
  [ -f "$debian_tar" ]
}

# debian_make CACHE PACKAGE…: beside its place first, so that two runs at a time never see half of it.
debian_make() {
  need_commands dpkg-deb=dpkg apt-get=apt
  say "making ${1##*/} from Debian packages"
  mkdir -p "${1%/*}"
  rm -f "$1"-*.tar
  debian_work=$(mktemp -d "$1.XXXXXX")
  shift
  debian_fetch "$debian_work/debs" "$@"
  debian_tree=$debian_work/tree
  # The same merged layout as an installed system.
  mkdir -p "$debian_tree/usr/bin" "$debian_tree/usr/sbin" "$debian_tree/usr/lib" "$debian_tree/usr/lib64"
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$debian_tree/$folder"; done
  for package in "$debian_work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$debian_tree" --keep-directory-symlink -xf - ||
      die "cannot unpack $package"
  done
  debian_finish "$debian_tree"
  tar -C "$debian_tree" --numeric-owner -cf "$debian_work/tar" .
  mv "$debian_work/tar" "$debian_tar"
  rm -rf "$debian_work"
}

# debian_fetch FOLDER PACKAGE…: an empty list of installed packages makes apt name all that is needed.
debian_fetch() {
  debian_folder=$1
  shift
  mkdir -p "$debian_folder/partial"
  : >"$debian_folder/status"
  # shellcheck disable=SC2086 # one word per package
  debian_list "$@" $debian_basics || {
    apt-get update -qq || die "apt-get update failed; see its text above"
    # shellcheck disable=SC2086
    debian_list "$@" $debian_basics || die "apt-get cannot resolve $*"
  }
  # shellcheck disable=SC2046 # one word per package
  (cd "$debian_folder" && apt-get -qq -o APT::Sandbox::User=root download $(cat list)) ||
    die "apt-get could not download the packages of $*"
}

debian_list() {
  # What lies in the archives is not printed, so an empty folder stands for them.
  apt-get -qq -o Dir::State::status="$debian_folder/status" -o Dir::Cache::archives="$debian_folder" \
    -o APT::Install-Recommends=false --print-uris install "$@" \
    >"$debian_folder/uris" 2>/dev/null || return 1
  awk '{ print $2 }' "$debian_folder/uris" | sed 's/_.*//' | while read -r package; do
    case " $debian_unwanted $package" in
      # Perl is a third of an image, and each lane imports it again.
      *" $package "* | *" "perl* | *" "libperl* | *-perl) ;;
      *) echo "$package" ;;
    esac
  done >"$debian_folder/list"
  [ -s "$debian_folder/list" ]
}

# debian_finish TREE: what the packages' own scripts would have done, as far as anything here needs it.
debian_finish() {
  mkdir -p "$1/tmp" "$1/etc" "$1/run" "$1/var/lib/postgresql"
  chmod 1777 "$1/tmp"
  ln -sf mawk "$1/usr/bin/awk"
  [ -e "$1/usr/bin/sh" ] || ln -s dash "$1/usr/bin/sh"
  printf '%s\n' root:x:0:0:root:/root:/bin/sh postgres:x:101:101::/var/lib/postgresql:/bin/sh \
    redis:x:102:102::/var/lib/redis:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false >"$1/etc/passwd"
  printf '%s\n' root:x:0: postgres:x:101: redis:x:102: nogroup:x:65534: >"$1/etc/group"
  chown -R 101:101 "$1/var/lib/postgresql"
  # Without LLVM: the server looks whether this file is there.
  # In Debian these are programs of Perl, which look for the version.
  for program in "$1"/usr/lib/postgresql/*/bin/*; do
    [ ! -L "$1/usr/bin/${program##*/}" ] || ln -sf "${program#"$1"}" "$1/usr/bin/${program##*/}"
  done
  rm -rf "$1"/usr/lib/*/gconv
  rm -rf "$1"/usr/lib/postgresql/*/lib/llvmjit.so "$1"/usr/lib/postgresql/*/lib/bitcode
  rm -rf "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/locale" "$1/usr/share/info"
}
