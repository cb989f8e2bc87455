import { mount, type Plane } from "../../../base/http/mount.ts";
import { createUiLink } from "../../api/sessions.ts";
import type { UiSessions } from "../../service/sessions.ts";

export function mountUiLinks(plane: Plane, sessions: UiSessions): void {
  mount(plane, createUiLink, {
    answer: ({ body, actor }) => sessions.link(body, { actor }),
    status: () => 201,
    headers: () => ({ "Cache-Control": "no-store" }),
  });
}
