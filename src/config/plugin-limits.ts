import { contextLimits } from "./context-limits.ts";

/** Packages of plugins, and their runs. */
export const pluginLimits = {
  /** What a plugin may print: its answer, and what it says while it works. More ends it. */
  pluginStdoutBytesMax: 16 * 1024 * 1024,
  pluginStderrBytesMax: 64 * 1024 * 1024,
  /** The last part of its standard error is kept while it runs, and its last lines with the record. */
  pluginTailBytes: 64 * 1024,
  pluginTailLines: 50,
  /** Between being asked to end and being killed. */
  pluginKillGraceMs: 2_000,
  /** How long the output of a plugin that has ended is waited for: what it left behind may hold it open. */
  pluginDrainMs: 1_000,
  /** Processes and memory of one run, with all that it starts, where the machine has control groups. */
  pluginProcessesMax: 1_024,
  pluginMemoryBytesMax: 2 * 1024 * 1024 * 1024,
  /** Plugins that run at the same time; one more is a 503. */
  pluginsAtOnceMax: 128,
  /** Blocks of one apply that are expanded at the same time. */
  expandAtOnceMax: 16,
  /** Time limits of commands that declare none. */
  expandTimeoutMs: 60_000,
  dispatchTimeoutMs: 15 * 60_000,
  /** How often blocks are looked at for plugins that attend to them, and the pauses after an attempt that failed. */
  attendLookMs: 1_000,
  attendBackoffFirstMs: 5_000,
  attendBackoffMaxMs: 60_000,
  /** Blocks that are attended to at the same time. */
  attendAtOnceMax: 4,
  /** How often the listener for callbacks looks whether the platform network has another address. */
  callbackLookMs: 10_000,
  /** Actions in one answer, and words of one command. */
  actionsMax: 1_000,
  pluginArgsMax: 200,
  /** Size of one word of a command, as the kernel takes it, and of all of them. */
  pluginArgBytesMax: 128 * 1024 - 1,
  pluginArgsBytesMax: 1024 * 1024,
  /** Files of one package. */
  pluginFilesMax: 10_000,
  pluginPackageBytesMax: 512 * 1024 * 1024,
  pluginInflation: contextLimits.inflation,
  /** For fetching a package, and for one of its hooks. */
  pluginFetchMs: 10 * 60_000,
  pluginHookMs: 10 * 60_000,
  pluginInstallsAtOnceMax: 4,
  /** Runs whose files can still be fetched. */
  pluginOffersKept: 200,
  /** Texts of a version that are kept, to show later what was changed in it: bytes of one file, and of all together. */
  pluginTexts: { fileBytesMax: 64 * 1024, allBytesMax: 2 * 1024 * 1024 },
  /** What is shown of changes: files, lines of one file, characters of one line. */
  pluginChangesShown: { filesMax: 100, linesMax: 60, charactersMax: 200 },
  /** Environment that the operator gives one plugin. */
  pluginConfig: { keysMax: 100, valueBytesMax: 32 * 1024, allBytesMax: 128 * 1024 },
  /** Values of so many characters are replaced in what plugins say. */
  pluginHiddenFrom: 6,
} as const;
