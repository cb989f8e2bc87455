import { createStyle, type Style } from "../../src/client/basics/style.ts";

export const plainStyle: Style = createStyle(false);
