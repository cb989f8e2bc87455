import { type Static, Type } from "@sinclair/typebox";
import { Duration, Shape, Words } from "../../../base/wire/shape.ts";
import { backupDefaults } from "./defaults.ts";

export const Backup = Shape(
  {
    every: Type.Optional(Duration("how often the volumes are copied", backupDefaults.every)),
    keep: Type.Optional(
      Type.String({ description: "how many copies are kept, such as 7d 4w 12m; default: what the target says" }),
    ),
    target: Type.Optional(Type.String({ description: "name of the target; default: every target" })),
    volumes: Type.Optional(Words("names of the volumes and claims that are copied; default: all that the app has")),
    pre: Type.Optional(
      Words(
        "command that runs in the container before a volume is read, such as one that writes a dump; if it fails, the " +
          "copy fails. With pre or post the app is not paused",
      ),
    ),
    post: Type.Optional(Words("command that runs in the container after the copy, whether it succeeded or not")),
    exclude: Type.Optional(Words("paths in a volume that are not copied, such as cache/**")),
  },
  "copies of the volumes at the targets of berth backup; without it the volumes are not protected",
);
export type Backup = Static<typeof Backup>;
