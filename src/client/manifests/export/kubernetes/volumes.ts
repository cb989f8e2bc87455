import type { PersistentVolumeClaim, Volume, VolumeMount } from "kubernetes-types/core/v1";
import { parseVolume } from "../../../../orchestration/core/volumes.ts";
import { placeholdersIn } from "../../../../orchestration/core/placeholders.ts";
import { wordsOf } from "../../../../orchestration/core/spec/lenient.ts";
import type { Exportable } from "../exportable.ts";
import { label } from "./names.ts";

interface PodVolumes {
  volumes: Volume[];
  mounts: VolumeMount[];
  /** Named volumes, which are claims of their own. */
  claims: PersistentVolumeClaim[];
}

/** The size of a volume that has none. */
export const claimSize = "1Gi";

/** `volumes` of a container: host paths, claims, and files of assets from config maps. */
export function podVolumes(from: Exportable, spec: Record<string, unknown>, path: string): PodVolumes {
  const found: PodVolumes = { volumes: [], mounts: [], claims: [] };
  wordsOf(spec.volumes).forEach((text, index) => {
    const at = `${path}.volumes[${index}]`;
    const volume = parseVolume(text);
    if (!volume.ok) {
      from.lose(at, "cannot be read: left out");
      return;
    }
    const { type, source, target, readOnly, external } = volume.value;
    const name = `volume-${index}`;
    const mount = { name, mountPath: target, ...(readOnly ? { readOnly } : {}) };
    const [placeholder] = placeholdersIn(source);
    if (placeholder !== undefined) {
      const asset = placeholder.type === "asset" ? placeholder.asset : undefined;
      if (asset === undefined) {
        from.lose(at, "holds a reference that only berth resolves: left out");
        return;
      }
      if (asset.scope !== undefined && asset.scope !== from.scope) {
        from.lose(at, "is an asset of another namespace, which cannot be mounted: left out");
        return;
      }
      found.volumes.push({ name, configMap: { name: label(asset.name) } });
      found.mounts.push({ ...mount, subPath: asset.key });
    } else if (type === "bind") {
      found.volumes.push({ name, hostPath: { path: source } });
      found.mounts.push(mount);
      from.lose(at, "is a folder of the node that the pod runs on");
    } else {
      const own = label(source.slice(source.indexOf("/") + 1));
      if (external || source.includes("/"))
        from.lose(at, `is shared with others: the claim "${own}" is of this namespace alone`);
      found.volumes.push({ name, persistentVolumeClaim: { claimName: own } });
      found.mounts.push(mount);
      found.claims.push(claimOf(from, own));
      from.lose(at, `becomes a claim of ${claimSize}: its size is not known, and its content is not copied`);
    }
  });
  return found;
}

function claimOf({ scope }: Exportable, name: string): PersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: label(scope) },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: claimSize } } },
  };
}
