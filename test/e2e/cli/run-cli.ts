import { join } from "node:path";

export interface CliResult {
  code: number;
  out: string;
  err: string;
}

export interface CliOptions {
  /** `http://…` or `unix:/…`; none when absent. */
  endpoint?: string;
  stdin?: string;
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** The built executable; the source when absent. */
  executable?: string;
}

const source = join(import.meta.dir, "../../../src/main.ts");

/** Runs the real client in a process of its own, with an environment of its own. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const program = options.executable === undefined ? [process.execPath, source] : [options.executable];
  const endpoint = options.endpoint === undefined ? {} : { BERTH_ENDPOINT: options.endpoint };
  const child = Bun.spawn([...program, ...args], {
    cwd: options.cwd ?? import.meta.dir,
    env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent", USER: "ana", ...endpoint, ...options.env },
    stdin: new Blob([options.stdin ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}
