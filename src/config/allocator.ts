/**
 * Setting of Bun's allocator, which reads it once, when a process starts: milliseconds between two searches of a thread's
 * memory for what can be given back. By default it searches after each moment of work, which takes a sixth of the CPU of an
 * idle server.
 */
const [name, value] = ["MIMALLOC_PURGE_HOLES_MIN_INTERVAL", "10000"];

interface StartParts {
  env: Record<string, string | undefined>;
  argv: readonly string[];
  argv0: string;
  execPath: string;
  /** As Node has it since 22.15; not known to the types of Bun. */
  execve?(path: string, argv: readonly string[], env: Record<string, string | undefined>): void;
}

/**
 * Starts this executable again in its own place, as the same process, with the setting; returns in the process that has it,
 * where it takes it out of the environment, so that no program that the server starts gets it. Does nothing where the
 * environment has a value of its own, and for a server that runs from its sources.
 */
export function settleAllocator({ env, argv, argv0, execPath, execve }: StartParts = process): void {
  if (env[name] === value) delete env[name];
  else if (env[name] === undefined && execve !== undefined && argv[1]?.startsWith("/$bunfs/") === true)
    execve(execPath, [argv0, ...argv.slice(2)], { ...env, [name]: value });
}
