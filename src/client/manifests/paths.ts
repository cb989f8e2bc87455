/** A variable of the environment, which is always text. */
export function isEnvironment(path: string): boolean {
  return /^spec\.(?:.+\.)?env\.[^.]+$/.test(path);
}

/** A file of an asset. */
export function isAssetFile(path: string): boolean {
  return /^spec\.files\.[^.]+$/.test(path);
}
