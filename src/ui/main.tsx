import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./frame/clock.ts";
import { listenToKeys } from "./frame/keys.ts";
import { followLinks } from "./frame/router.ts";
import { startTheme } from "./frame/theme.ts";

startTheme();
startClock();
followLinks();
listenToKeys();
const place = document.getElementById("app");
if (place !== null) render(<App />, place);
