import type { SourceTree } from "./runtime.ts";

/** What a gem with native code is built with. */
const libraries: Readonly<Record<string, string>> = {
  mysql2: "default-libmysqlclient-dev",
  sqlite3: "libsqlite3-dev",
  "ruby-vips": "libvips",
  image_processing: "libvips",
  rmagick: "libmagickwand-dev",
  mimemagic: "shared-mime-info",
  charlock_holmes: "libicu-dev",
  "idn-ruby": "libidn-dev",
  curb: "libcurl4-openssl-dev",
  "ruby-filemagic": "libmagic-dev",
  rugged: "cmake",
  mini_magick: "imagemagick",
  "streamio-ffmpeg": "ffmpeg",
  // Loads the library while it runs.
  "(?:ethon|typhoeus)": "libcurl4-openssl-dev",
  unf_ext: "g++",
  "(?:sassc|therubyracer|mini_racer|libv8-node)": "g++",
  "ruby-ldap": "libldap2-dev",
  nokogumbo: "libxml2-dev",
  ffi: "libffi-dev",
  // Assets that are made by JavaScript.
  "(?:execjs|uglifier|coffee-rails|autoprefixer-rails|terser|coffee-script)": "nodejs",
};

export function hasGem(tree: SourceTree, name: string): boolean {
  return new RegExp(`^[ \\t]*gem ["']${name}["']`, "m").test(tree.read("Gemfile") ?? "");
}

/** The same of the gems that others bring. */
function isLocked(tree: SourceTree, name: string): boolean {
  return new RegExp(`^ {4}${name} \\(`, "m").test(tree.read("Gemfile.lock") ?? "");
}

/** Packages of Debian that the gems of a folder take. */
export function gemLibraries(tree: SourceTree): string[] {
  const needs = Object.entries(libraries).flatMap(([gem, library]) =>
    hasGem(tree, gem) || isLocked(tree, gem) ? [library] : [],
  );
  return needs.toSorted();
}
