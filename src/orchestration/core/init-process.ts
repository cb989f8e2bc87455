/** Programs that are made to be process 1. Most of them refuse to be anything else. */
const inits = new Set([
  ...["tini", "tini-static", "docker-init", "dumb-init", "catatonit", "init", "my_init", "linuxrc", "systemd", "dinit"],
  ...[
    "s6-svscan",
    "s6-overlay",
    "runit",
    "runit-init",
    "runsvdir",
    "runsvdir-start",
    "openrc-init",
    "pebble",
    "supervise",
  ],
]);

/**
 * Whether a container starts an init of its own, going by the words of its entrypoint and command, also those of a line for
 * a shell (`sh -c "exec /init"`). A word that only looks like one costs nothing but the default.
 */
export function startsInit(words: readonly string[]): boolean {
  return words.flatMap((word) => word.split(/[\s;&|"'()]+/)).some((word) => inits.has(programName(word)));
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
