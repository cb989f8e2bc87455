/** How a Java program is built and started. */
export interface JavaBuild {
  base: string;
  /** Image of the last stage. */
  run: string;
  /** Leaves what runs in /out. */
  build: string;
  start: string[];
  notes: string[];
  noStart?: string | undefined;
  /** Where the last stage has it, in place of /app. */
  place?: string;
}

export function jre(version: string): string {
  return `eclipse-temurin:${version}-jre`;
}

/** A program in one archive. */
export function fromJar(version: string): Pick<JavaBuild, "run" | "start"> {
  return { run: jre(version), start: ["java", "-XX:MaxRAMPercentage=75", "-jar", "/app/app.jar"] };
}

/** Not what is only a part of the program. */
const parts = "grep -vE -e '-(plain|sources|javadoc|tests)[.]jar$|/original-'";

/** Copies the largest archive below a folder, which is the one with all that the program needs. */
export function copyJar(folder: string, place: string): string {
  const from = folder === "" ? "." : `./${folder.replace(/\/$/, "")}`;
  return `cp "$(find ${from} -path '*/${place}/*.?ar' -not -path '*/.mvn/*' -not -path '*/dependency/*' -size +0 -printf '%s %p\\n' | ${parts} | sort -rn | head -n 1 | cut -d' ' -f2-)" /out/app.jar`;
}
