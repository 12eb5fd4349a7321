import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import type { HardhatUserConfig } from "hardhat/config";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import config from "../../../hardhat.config.ts";
import { generatedFolder } from "./fixture.ts";

export const root = join(import.meta.dirname, "..", "..", "..");
const sources = join(import.meta.dirname, "..", "solidity");

/** The result of one invariant or test function. */
export interface FuzzResult {
  readonly contract: string;
  readonly test: string;
  readonly passed: boolean;
  /** Why it failed. */
  readonly reason: string | undefined;
  /** Number of sequences, calls and reverted calls; 0 for a test without a fuzzer. */
  readonly runs: number;
  readonly calls: number;
  readonly reverts: number;
}

export interface FuzzSize {
  /** Number of sequences for each invariant. */
  readonly runs: number;
  /** Number of calls in each sequence. */
  readonly depth: number;
  /** Maximum number of attempts to make a failing sequence shorter. */
  readonly shrink: number;
}

/** The part of the result of Hardhat's task that is used. */
type TestRun =
  | { readonly success: true; readonly value: TestSuites }
  | { readonly success: false; readonly error: TestSuites };

interface TestSuites {
  readonly suiteResults: readonly {
    readonly id: { readonly name: string };
    readonly testResults: readonly {
      readonly name: string;
      readonly status: string;
      readonly reason?: string;
      readonly kind: object;
    }[];
  }[];
}

function solidityFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sol"))
    .map((name) => join(folder, name));
}

/**
 * All files with contracts that are deployed or run: the runner knows no others. There are only two, because each costs a
 * run of the compiler, which compiles all imports again.
 */
const FILES = ["generated/test/SmallRingPool.sol", "generated/Tests.t.sol"];

/** Compiles the test contracts and runs the tests of the properties, or those that find the seeded bugs. */
export async function runSolidityTests(which: "properties" | "seeded bugs", size: FuzzSize): Promise<FuzzResult[]> {
  const { solidity, paths } = config as unknown as {
    readonly solidity: { readonly compilers: readonly [object]; readonly overrides: object };
    readonly paths: object;
  };
  const [compiler] = solidity.compilers;
  // The tests need no optimizer, which takes most of the compiler's time. The seeded pool does not compile without IR.
  const plain = { ...compiler, settings: { evmVersion: "prague", viaIR: false, optimizer: { enabled: false } } };
  const viaIr = { ...compiler, settings: { evmVersion: "prague", viaIR: true, optimizer: { enabled: false } } };
  const overrides = Object.fromEntries(
    solidityFiles(sources).map((file) => {
      const name = relative(root, file).replaceAll("\\", "/");
      const seeded = name.includes("/generated/") && !name.endsWith(".t.sol");
      return [name, seeded ? viaIr : plain];
    }),
  );
  const hre = await createHardhatRuntimeEnvironment(
    {
      ...config,
      paths: { ...paths, tests: { solidity: sources }, cache: join(generatedFolder, "cache") },
      solidity: {
        ...solidity,
        splitTestsCompilation: true,
        overrides: { ...solidity.overrides, ...overrides },
      } as unknown as NonNullable<HardhatUserConfig["solidity"]>,
      test: {
        solidity: {
          fsPermissions: { readFile: [join(generatedFolder, "fixture.bin")] },
          invariant: {
            runs: size.runs,
            depth: size.depth,
            failOnRevert: false,
            shrinkRunLimit: size.shrink,
            // The calls' arguments are seeds: values from the code and the storage would only cost time.
            dictionaryWeight: 0,
            includeStorage: false,
            includePushBytes: false,
          },
        },
      },
    },
    {},
    root,
  );
  const result = (await hre.tasks.getTask(["test", "solidity"]).run({
    testFiles: FILES.map((file) => join(sources, file)),
    noCompile: true,
    ...(which === "properties" ? { grepExclude: "findsBug" } : { grep: "findsBug" }),
  })) as TestRun;
  const { suiteResults } = result.success ? result.value : result.error;
  return suiteResults.flatMap(({ id, testResults }) =>
    testResults.map((test) => ({
      contract: id.name,
      test: test.name.replace("()", ""),
      passed: test.status === "Success",
      reason: test.reason,
      ...counts(test.kind),
    })),
  );
}

function counts(kind: object): { runs: number; calls: number; reverts: number } {
  if (!("calls" in kind)) return { runs: 0, calls: 0, reverts: 0 };
  const { runs, calls, reverts } = kind as { runs: bigint; calls: bigint; reverts: bigint };
  return { runs: Number(runs), calls: Number(calls), reverts: Number(reverts) };
}
