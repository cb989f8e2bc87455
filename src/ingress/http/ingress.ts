import { getIngress, reloadIngress, stopIngress } from "../api/ingress.ts";
import { getIngressTraffic } from "../api/traffic.ts";
import type { IngressViews } from "../service/ingress-views.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountProxy(plane: Plane, views: IngressViews): void {
  mount(plane, getIngress, () => views.status());
  mount(plane, getIngressTraffic, () => views.traffic());
  mount(plane, reloadIngress, () => views.reload());
  mount(plane, stopIngress, () => views.stop());
}
