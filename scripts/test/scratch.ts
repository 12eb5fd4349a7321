// The folders for temporary files. A suite's folder is in memory if the machine has enough: the tests' databases sync
// to disk thousands of times, and on a slow disk these syncs take longer than the tests.

import { spawnSync } from "node:child_process";
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Linux's file system in memory. */
const MEMORY = "/dev/shm";
/** Free bytes that the file system and the machine must both have. A suite uses less than a quarter of it. */
const ENOUGH = 4 * 1024 ** 3;
const NAME = /^sotto-test-(\d+)-/;

export interface Scratch {
  readonly path: string;
  remove(): void;
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Whether programs can be run from the folder: containers often forbid this for in-memory file systems. */
function runsPrograms(path: string): boolean {
  const file = join(path, "probe");
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o700 });
  const { status } = spawnSync(file);
  rmSync(file);
  return status === 0;
}

/** @returns a new folder in memory; undefined if there is too little memory, or if programs cannot run there */
function inMemory(): string | undefined {
  try {
    accessSync(MEMORY, constants.W_OK);
    // Removes folders that a killed run left behind.
    for (const name of readdirSync(MEMORY)) {
      const pid = NAME.exec(name)?.[1];
      if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(MEMORY, name), { recursive: true, force: true });
    }
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH || process.availableMemory() < ENOUGH) return undefined;
    const path = mkdtempSync(join(MEMORY, `sotto-test-${process.pid}-`));
    if (runsPrograms(path)) return path;
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The system lacks this file system, or the folder belongs to another user: fall back to the disk.
  }
  return undefined;
}

export function openScratch(): Scratch {
  const path = inMemory() ?? mkdtempSync(join(tmpdir(), `sotto-test-${process.pid}-`));
  // If this process runs as root, PostgreSQL runs as a separate user.
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/**
 * The folder where Node keeps compiled code, for all processes of all suites of a run: hundreds of them import the same
 * modules, and without this folder a fifth of that time would be spent compiling. `npm test` empties it on start.
 */
export const compiledFolder = (root: string): string => join(root, ".turbo", "compiled");

/**
 * The file with the deployment that the chains of all suites share: hundreds of tests need a chain with a pool, and
 * Ignition takes longer to deploy one than Hardhat takes to start. `npm test` removes it on start.
 */
export const deploymentFile = (root: string): string => join(root, ".turbo", "deployment.json");
