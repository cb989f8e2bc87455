const againMs = 1_000;

/**
 * Loads a part of the page, such as a screen; once more after a moment where that fails, as a browser cuts off what is under
 * way when its network changes. Fails where the server has the part no longer.
 */
export async function loadPart<T>(load: () => Promise<T>, pauseMs = againMs): Promise<T> {
  return load().catch(async () => {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    return load();
  });
}
