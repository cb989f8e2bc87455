/** Whether this runs as root, as `test/run` does. What only root can set up is skipped in a plain `bun test` of another user. */
export const isRoot = process.getuid?.() === 0;
