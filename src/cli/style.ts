/** Text in the colours of a terminal, or unchanged. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

export function createStyle(color: boolean): Style {
  const code = (open: number, close: number) => (text: string) => {
    return color && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  };
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}

export const plainStyle: Style = createStyle(false);

/** Control characters of text that is not ours replaced, so that it cannot drive the terminal. */
export function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]+/g, " ");
}
