/** Bytes of the head of a request: what every site takes, as much as Node does, and the most that an ingress may ask for. */
export const headBytes = { least: 16 * 1024, most: 128 * 1024 } as const;
