import type { Context } from "./command.ts";

/** Opens an address in a browser, where this is a terminal on a desktop. True when one was opened. */
export async function openBrowser(context: Context, address: string): Promise<boolean> {
  const program = context.json ? undefined : browserOf(context);
  if (program === undefined) return false;
  const code = await context.runLocal({ argv: [...program, address], env: {} });
  if (code !== 0) context.terminal.note(`no browser was opened: ${program[0]} ended with exit code ${code}`);
  return code === 0;
}

/** What opens a browser here; undefined where no person would see it. */
function browserOf({ terminal, variables }: Context): string[] | undefined {
  if (!terminal.interactive) return undefined;
  if (process.platform === "darwin") return ["open"];
  const hasDesktop = Boolean(variables.DISPLAY || variables.WAYLAND_DISPLAY);
  return hasDesktop && !variables.SSH_CONNECTION ? ["xdg-open"] : undefined;
}
