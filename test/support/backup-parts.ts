import type { Platform } from "../../src/backups/service/platform.ts";

/** A server without apps, for tests of what else is copied. */
export const noPlatform: Platform = {
  apps: () => [],
  folderOf: async (volume) => `/volumes/${volume}`,
  rootOf: async () => "750.70.70",
  writers: async () => [],
  pause: async () => false,
  unpause: async () => undefined,
  shellOf: async () => undefined,
  run: async () => undefined,
};

/** The records of a server without copies of volumes. */
export const noVolumeRecords = {
  volumeRuns: () => [],
  paused: () => [],
  setPaused: async () => undefined,
  copies: () => [],
  putCopies: async () => undefined,
};
