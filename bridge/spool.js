// Events that Python could not take are kept as files until it can: one file an event, complete or not there at all.
// The process drains them in the order of their names, so a file is never written to after it can be seen.

import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;

export class Spool {
  #folder;
  #written = 0;

  constructor(stateDir) {
    this.#folder = join(stateDir, "spool");
  }

  /** Keep one event. Throws when the disk refuses, or when a planted link would lead the words elsewhere. */
  keep(method, params) {
    mkdirSync(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    if (lstatSync(this.#folder).isSymbolicLink()) {
      throw new Error(`${this.#folder} is a symbolic link: take it away (neuralstream doctor)`);
    }
    this.#written += 1;
    const stamp = String(Date.now()).padStart(15, "0");
    const order = String(this.#written).padStart(6, "0");
    const name = `${stamp}-${order}-${process.pid}-${randomBytes(3).toString("hex")}`;
    const hidden = join(this.#folder, `.${name}.part`);
    writeFileSync(hidden, `${JSON.stringify({ method, params })}\n`, { mode: OWNER_ONLY_FILE, flag: "wx" });
    renameSync(hidden, join(this.#folder, `${name}.jsonl`));
  }

  /** How many events wait to be drained. */
  waiting() {
    try {
      return readdirSync(this.#folder).filter((name) => name.endsWith(".jsonl")).length;
    } catch {
      return 0; // no folder yet: nothing was ever kept
    }
  }
}
