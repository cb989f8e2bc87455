export interface ExecSpec {
  command: string[];
  /** `KEY=VALUE` */
  env: string[];
  tty: boolean;
  /** Without it the process has no stdin. */
  interactive: boolean;
  workdir?: string;
  user?: string;
  /** Size of the terminal, from the start where the engine can, right after it elsewhere. */
  size?: TerminalSize;
}

/** How a check ended. */
export interface Checked {
  exitCode: number;
  /** Beginning of what it printed, on either stream; at most `checkCharsMax` characters. */
  output: string;
}

export interface AttachOptions {
  /** As the container was created. */
  tty: boolean;
  interactive: boolean;
  size?: TerminalSize;
  /** Between the stop signal and the end, when the session is killed. */
  graceMs: number;
}

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** A command that runs in a container. */
export interface ExecSession {
  /** The engine's id of the exec. */
  id: string;
  /** Until the process has closed its output. With a tty everything is `stdout`. Pulled: a slow consumer slows the process. */
  output: AsyncIterable<{ stream: "stdout" | "stderr"; bytes: Uint8Array }>;
  /** Resolves when the engine has taken the bytes; `conflict` once the command has ended. In order of the calls. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes stdin (half-close); output goes on. */
  endInput(): void;
  resize(size: TerminalSize): Promise<void>;
  /** The exit code, once the output has ended: someone has to read it. */
  exitCode(): Promise<number>;
  /**
   * Ends the process in the container with everything below it (SIGHUP, SIGKILL after 5 s) and the connection; resolves
   * when that is done. Safe at any time: what a command that has ended left in the background stays.
   */
  kill(): Promise<void>;
}

export interface LogOptions {
  follow: boolean;
  /** Last lines; undefined for all, 0 for none. */
  tail: number | undefined;
  /** Epoch milliseconds. */
  since: number | undefined;
  timestamps: boolean;
}

/** A file, folder or link in a container. */
export interface FileStat {
  kind: "file" | "folder" | "link" | "other";
  /** Size of a file. */
  sizeBytes: number;
  /** Permissions, without the kind: 0o644. */
  mode: number;
  /** Where a link leads in the end, as a path of the container. */
  linkTarget: string | undefined;
}

/** Whose a folder is, in the numbers that the container sees. */
export interface FolderOwner {
  uid: number;
  gid: number;
  /** Permissions, with the sticky bit and its neighbours: 0o1777. */
  mode: number;
  isEmpty: boolean;
}

/** Who the program of a container is, and whose a folder in it is. */
export interface FolderAccess {
  user: { uid: number; gid: number };
  folder: FolderOwner;
}

/** What is unpacked in a container. */
export interface WrittenFiles {
  /** There already. */
  folder: string;
  /** A tar archive, read once. */
  archive: AsyncIterable<Uint8Array>;
  signal: AbortSignal;
}
