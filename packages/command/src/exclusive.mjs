// Commands in several terminals of one checkout install and build one after another: at the same time, they would do the
// same work twice and overwrite each other's files. Plain JavaScript for Node 20, like the rest of the launcher.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { elapsed, Progress } from "./progress.mjs";

const POLL_MS = 200;

const lockFile = (root) => join(root, ".dev", "build.lock");

/** @returns the process that installs or builds, or undefined */
function holderOf(path) {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8"));
    return isRunning(holder.pid) ? holder : undefined;
  } catch {
    // The file was removed in the meantime.
    return undefined;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return error.code === "EPERM";
  }
}

/** @returns whether this process has the lock now */
function tryLock(path, command) {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify({ pid: process.pid, command }));
  try {
    // The link appears with its content, and fails if there is one.
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    // Its process was killed before it could remove the file.
    if (holderOf(path) === undefined) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Runs an action while no other command of this checkout installs or builds, and shows for which command it waits.
 * @param command as the user typed it; other terminals show it while they wait
 * @param options.signal stops the wait: the action is then run at once, and has to check the signal itself
 * @param options.progress shows the wait; default: a line on standard error
 */
export async function exclusively(root, command, action, { signal, progress = new Progress() } = {}) {
  const path = lockFile(root);
  mkdirSync(dirname(path), { recursive: true });
  const start = performance.now();
  let waiting = false;
  let locked = tryLock(path, command);
  while (!locked && !signal?.aborted) {
    const holder = holderOf(path);
    if (holder !== undefined && !waiting) {
      waiting = true;
      progress.show(() => `waiting for ${holder.command} (process ${holder.pid}) to build (${elapsed(start)})`);
    }
    if (holder !== undefined) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    locked = tryLock(path, command);
  }
  if (waiting) progress.stop();
  try {
    return await action();
  } finally {
    if (locked) rmSync(path, { force: true });
  }
}
