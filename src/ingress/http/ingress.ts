import { getIngress, reloadIngress, stopIngress } from "../api/ingress.ts";
import { getIngressTraffic } from "../api/traffic.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountProxy(plane: Plane, views: IngressViews): void {
  mount(plane, getIngress, { answer: () => views.status() });
  mount(plane, getIngressTraffic, { answer: () => views.traffic() });
  mount(plane, reloadIngress, { answer: () => views.reload() });
  mount(plane, stopIngress, { answer: () => views.stop() });
}
