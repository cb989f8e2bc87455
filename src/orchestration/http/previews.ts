import { deletePreview, listPreviews, putPreview } from "../api/previews.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountPreviews(plane: Plane, controller: Controller): void {
  mount(plane, putPreview, ({ query, actor }) => controller.putPreview(query, { actor }));
  mount(plane, listPreviews, ({ query }) => controller.listPreviews(query));
  mount(plane, deletePreview, ({ query, actor }) => controller.deletePreview(query, { actor }));
}
