import { createStyle, type Style } from "../../src/client/shell/style.ts";

export const plainStyle: Style = createStyle(false);
