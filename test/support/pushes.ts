import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { executable, type Finished } from "./executable.ts";

/** A git repository on somebody's laptop, whose remote `berth` is a server on this machine, by an `ssh` that only runs the command. */
export interface Laptop extends Disposable {
  path: string;
  write(files: Record<string, string>): void;
  /** Runs git; `push` speaks to the server. */
  git(...words: string[]): Promise<Finished>;
  /** Starts it, with what it says on stderr. */
  start(...words: string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** Commits all files and answers with the id of the commit. */
  commit(message?: string): Promise<string>;
}

/** `root` is that of the server. */
export async function laptop(root: string, repository = "shop"): Promise<Laptop> {
  const path = mkdtempSync(join(tmpdir(), "berth-laptop."));
  const ssh = join(path, ".git-ssh");
  const source = join(path, "app");
  mkdirSync(source);
  // The words are options, the host, and the command for the shell there.
  writeFileSync(
    ssh,
    '#!/bin/sh\nfor command; do :; done\nexec env -i PATH="$PATH" HOME=/root USER=deploy sh -c "$command"\n',
  );
  chmodSync(ssh, 0o755);
  const self: Laptop = {
    path: source,
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(source, name)), { recursive: true });
        writeFileSync(join(source, name), text);
      }
    },
    async git(...words) {
      const child = self.start(...words);
      const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return { exitCode: await child.exited, stdout, stderr };
    },
    start: (...words) =>
      Bun.spawn(["git", ...words], {
        cwd: source,
        env: {
          ...process.env,
          GIT_SSH_COMMAND: ssh,
          GIT_SSH_VARIANT: "ssh",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_AUTHOR_NAME: "Ana",
          GIT_AUTHOR_EMAIL: "ana@example.com",
          GIT_COMMITTER_NAME: "Ana",
          GIT_COMMITTER_EMAIL: "ana@example.com",
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      }),
    async commit(message = "change") {
      await self.git("add", "-A", "-f");
      await self.git("commit", "-q", "--allow-empty", "-m", message);
      return (await self.git("rev-parse", "HEAD")).stdout.trim();
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
  await self.git("init", "-q", "-b", "main");
  await self.git("remote", "add", "berth", `deploy@server:${repository}`);
  for (const verb of ["receive-pack", "upload-pack"]) {
    await self.git("config", `remote.berth.${verb.replace("-", "")}`, `${executable} ${verb} --root ${root}`);
  }
  return self;
}
