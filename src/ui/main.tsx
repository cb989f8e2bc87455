import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./browser/clock.ts";
import { listenToKeys } from "./frame/keys.tsx";
import { followLinks } from "./browser/router.ts";
import { startTheme } from "./browser/theme.ts";

startTheme();
startClock();
followLinks();
listenToKeys();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
