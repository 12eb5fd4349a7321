import type { ErrorTable } from "@sotto/protocol";

/** The errors of the checkout's commands. All exit with 1, except INTERRUPTED, which exits with 130. */
export const SCRIPT_ERRORS = {
  // Every command
  INPUT_ENDED: {
    means: "The command waits for input, but its input has ended.",
    cause: "The command runs in CI or in a pipe without a terminal.",
    remedy: "run it on a terminal",
  },
  INVALID_PORT: {
    means: "A port is not a number from 1 to 65535.",
    cause: "The number has a typo, or is so high that the ports after it do not exist.",
  },
  INVALID_URL: {
    means: "An address is not an http or https URL.",
    cause: "The address has a typo, or lacks http:// or https://.",
  },
  UNEXPECTED: {
    means: "An error without a code.",
    cause: "The command has a bug, or the machine is faulty.",
    remedy: "run it with SOTTO_DEBUG=1 and report the stack trace",
  },
  UNKNOWN_OPTION: {
    means: "An option is not one of the command's, or has no value.",
    cause: "The option has a typo, or -- is missing before the options of `npm run`.",
  },

  // npm run rehearsal
  COPY_FAILED: {
    means: "The checkout could not be copied for a rehearsal.",
    cause: "The folder is not a clone, or git is not installed.",
    remedy: "clone the repository with git",
  },
  REHEARSAL_FAILED: {
    means: "A step of the rehearsal failed, or something was accepted that has to be refused.",
    cause: "The command in the message says why; a change of the checkout broke it, or the machine is overloaded.",
    remedy: "run the rehearsal again; it resumes",
  },

  // The launcher
  COMMAND_NOT_FOUND: {
    means: "A program is not on the PATH.",
    cause: "The program is not installed, or another shell sets the PATH.",
    remedy: "install it",
  },
  COMMAND_NOT_STARTED: {
    means: "The operating system did not start a program.",
    cause: "The file is not executable, is for another processor, or the machine has no memory left.",
  },
  INSTALL_FAILED: {
    means: "The toolchain or the dependencies could not be installed.",
    cause: "The npm registry cannot be reached, the disk is full, or a proxy is not configured.",
  },
  INTERRUPTED: {
    means: "The command was interrupted while it installed or built.",
    cause: "Someone pressed Ctrl-C, or the system ended the process.",
    remedy: "run it again",
  },
  NODE_TOO_OLD: { means: "The launcher needs Node 20 or newer.", cause: "An old Node comes first on the PATH." },
  TOOLCHAIN_BROKEN: {
    means: "The installed Node does not run on this machine.",
    cause: "The download was cut off, or the system lacks the libraries that Node needs, as Alpine does.",
    remedy: "delete `.toolchain`",
  },
  UNKNOWN_TASK: {
    means: "There is no task of this name.",
    cause: "The name has a typo, or belongs to another version.",
  },
  UNSUPPORTED_PLATFORM: {
    means: "The npm registry has no Node for this platform.",
    cause: "Node is published only for Linux, macOS and Windows on common processors.",
    remedy: "install Node 24",
  },

  // Circuits and their keys
  ARTIFACT_CHANGED: {
    means: "An artifact differs from the lock.",
    cause: "The circuits were compiled by another version of circom, or the file was edited.",
    remedy: "`npm run circuits:build`",
  },
  CERTIFICATE_STALE: {
    means: "A certificate in `circuits/certificates` differs from what the built circuit gives.",
    cause: "A circuit changed, or the checker did.",
    remedy: "`npm run certify -- --write`, then review the change",
  },
  CIRCOM_FAILED: {
    means: "A circuit does not compile; the message is circom's.",
    cause: "Its source has a mistake, or includes a file that this version of a library lacks.",
  },
  CIRCUITS_JSON_INVALID: {
    means: "The file `circuits/circuits.json` is missing or malformed.",
    cause: "The file was edited by hand, or a merge left conflict markers.",
  },
  CIRCUITS_JSON_STALE: {
    means: "The compiled circuits differ from circuits.json.",
    cause: "A circuit changed, and its counts were not updated.",
    remedy: "`npm run circuits:build`",
  },
  CIRCUIT_UNKNOWN: {
    means: "There is no circuit of this name.",
    cause: "The name has a typo, or belongs to another version.",
  },
  CONTRACTS_NOT_BUILT: {
    means: "A compiled contract is missing.",
    cause: "The checkout is fresh, or `artifacts` was deleted.",
    remedy: "`npm run contracts:build`",
  },
  GENERATED_STALE: {
    means: "A generated file differs from its sources.",
    cause: "A source changed without `npm run generate`, or someone edited the generated file.",
    remedy: "`npm run generate`",
  },
  GROUP_UNKNOWN: {
    means: "No constraint group has this prefix.",
    cause: "The prefix has a typo, or the group was renamed.",
  },
  INCLUDE_MISSING: { means: "A circuit includes a file that does not exist.", cause: "The file was renamed or moved." },
  LOCK_DAMAGED: {
    means: "The lock `circuits/artifacts.lock.json` is malformed.",
    cause: "The file was edited by hand, or a merge left conflict markers.",
  },
  LOCK_MISSING: {
    means: "There is no `circuits/artifacts.lock.json`.",
    cause: "The development keys were never made, or the file was deleted.",
    remedy: "`npm run setup:dev`",
  },
  PACKAGE_DAMAGED: {
    means: "An installed package has no version.",
    cause: "An installation by pnpm was interrupted, or files were deleted.",
    remedy: "delete `node_modules`",
  },
  R1CS_DAMAGED: {
    means: "A compiled circuit is truncated or not an r1cs file.",
    cause: "The compilation was interrupted.",
    remedy: "compile it again",
  },
  R1CS_MISSING: {
    means: "A circuit is not compiled.",
    cause: "The checkout is fresh, or `circuits/build` was deleted.",
    remedy: "`npm run build`",
  },
  SIGNALS_INVALID: {
    means: "The public signals of the proof to forge have the wrong number, or are not field elements.",
    cause: "The caller passed signals that belong to another circuit.",
  },
  SOURCE_MISSING: {
    means: "There is no circuit at this path.",
    cause: "The path has a typo, or the circuit was renamed.",
  },
  STEP_FAILED: {
    means: "A step of `circuits:build` failed; its output is above the message.",
    cause: "A circuit has a mistake, or the step was interrupted.",
  },
  TESTS_FAILED: {
    means: "Tests of the changed circuits failed; their output is above the message.",
    cause: "The change breaks what a test expects.",
  },
  TRAPDOOR_DAMAGED: {
    means: "A trapdoor file is malformed.",
    cause: "A write was interrupted, or the file was edited.",
    remedy: "delete it and run `npm run setup:dev`",
  },
  TRAPDOOR_MISSING: {
    means: "A circuit has no development key.",
    cause: "The circuit was added after the last `setup:dev`.",
    remedy: "`npm run setup:dev`",
  },
  UNDERCONSTRAINED: {
    means: "The inputs of a circuit do not provably determine every wire; the message says which.",
    cause: "A `<--` lacks its `===`, or a premise of a lemma is not in the constraints.",
    remedy: "follow the message; docs/certificate.md explains the rules",
  },
  FREE_SIGNAL_USED: {
    means: "A signal that circuits.json declares free does not occur in its own square only; the message says why.",
    cause: "A change of the circuit uses the signal elsewhere, or drops its constraint.",
    remedy: "undo the change; without it, prepared payments are impossible",
  },
  VERIFIER_STALE: {
    means: "A Solidity verifier is missing or is for another key.",
    cause: "The keys were made again, and the verifier was not exported.",
    remedy: "`npm run circuits:build`",
  },

  // The ceremony
  ARTIFACT_MISSING: {
    means: "An artifact of the ceremony is missing.",
    cause: "A download or contribution was interrupted, or the file was moved.",
  },
  BEACON_INVALID: {
    means: "The beacon's bytes, iterations or source are out of range.",
    cause: "The value was cut off when it was copied, or is in another encoding.",
  },
  CEREMONY_EXISTS: {
    means: "There is a ceremony of this name.",
    cause: "An earlier run began it, or a colleague committed it.",
    remedy: "choose another name",
  },
  CEREMONY_NOT_BEGUN: {
    means: "The command `new` was interrupted.",
    cause: "The process was ended before it wrote the transcript.",
    remedy: "run it again",
  },
  CEREMONY_OPEN: {
    means: "The ceremony needs contributions, then a beacon, then `finalize`.",
    cause: "The steps were not run in this order, or nobody has contributed yet.",
  },
  CEREMONY_OVER: {
    means: "The beacon has been applied, so the ceremony accepts nothing more.",
    cause: "The contribution arrived after the ceremony had ended.",
  },
  CIRCUIT_DIFFERS: {
    means: "The ceremony was for other circuits.",
    cause: "The checkout has newer circuits than the ceremony.",
    remedy: "check out the ceremony's commit",
  },
  COMMAND_UNKNOWN: {
    means: "The ceremony has no command of this name.",
    cause: "The name has a typo, or belongs to another version.",
  },
  CONTRIBUTION_INVALID: {
    means: "A key does not result from the previous contributions.",
    cause: "The contributor began with another key, or the file was damaged on the way.",
  },
  DOWNLOAD_FAILED: {
    means: "A download was refused or broke off.",
    cause: "The connection broke, or the server limits downloads.",
    remedy: "run the command again to resume",
  },
  FILE_EXISTS: {
    means: "The file to write already exists.",
    cause: "An earlier run wrote the file.",
    remedy: "choose another file",
  },
  FOLDER_NOT_EMPTY: {
    means: "The folder for a contribution already exists.",
    cause: "An earlier run made the folder.",
    remedy: "choose another folder",
  },
  NAME_INVALID: {
    means: "A ceremony's or contributor's name contains a character that is not allowed, or is too long.",
    cause: "The name has spaces, slashes or other special characters.",
  },
  NAME_TAKEN: {
    means: "A verifier would have another contract's name.",
    cause: "Two ceremonies have names that lead to the same contract name.",
    remedy: "choose another name",
  },
  NO_CONTRIBUTIONS: {
    means: "There is no contribution to apply the beacon to.",
    cause: "The ceremony was just begun.",
  },
  OPTION_MISSING: { means: "A required option or argument is missing.", cause: "The command line is incomplete." },
  PTAU_DAMAGED: {
    means: "A file is not a powers of tau file of BN254.",
    cause: "The download was cut off, or is an error page.",
  },
  PTAU_MISSING: {
    means: "The phase 1 file cannot be read.",
    cause: "The file was never downloaded, or was moved.",
    remedy: "`npm run ceremony -- ptau`",
  },
  PTAU_POWER_UNKNOWN: {
    means: "There is no phase 1 file with this number of powers.",
    cause: "The public ceremony has files only for certain powers.",
  },
  PTAU_TOO_SMALL: {
    means: "A circuit's key cannot be made from this phase 1; usually it has too few powers.",
    cause: "The circuits have grown since the file was chosen.",
  },
  PTAU_UNKNOWN: {
    means: "A phase 1 file is not the public ceremony's, or not the one this ceremony began with.",
    cause: "The file comes from another source, or was replaced in the meantime.",
  },
  TRANSCRIPT_DAMAGED: {
    means: "A transcript is malformed, or belongs to a different ceremony than its name says.",
    cause: "The file was edited or renamed, or a merge left conflict markers.",
  },
  TRANSCRIPT_MISMATCH: {
    means: "A file differs from the transcript; the message names circuit and file.",
    cause: "The file was changed, damaged on the way, or belongs to another contribution.",
  },
  TRANSCRIPT_MISSING: {
    means: "There is no transcript of this ceremony.",
    cause: "The name has a typo, or the ceremony is on another branch.",
  },
  ZKEY_DAMAGED: {
    means: "A key file is truncated, changed or unreadable.",
    cause: "The download or upload was cut off.",
  },

  // Deployment and the local chain
  CHAIN_UNSUITABLE: {
    means: "The chain or its node lacks something that a pool needs; the message lists what.",
    cause: "An opcode or a precompile is missing, or calls cost more gas than quotas assume.",
    remedy: "use another node of the chain; if it lacks the same, choose another chain: see `docs/chains.md`",
  },
  DEPLOYMENT_DIFFERS: {
    means: "The chain, the manifest and this tree do not match; the message lists the differences.",
    cause: "The checkout changed after the deployment, or the manifest belongs to another one.",
  },
  DEPLOYMENT_FAILED: {
    means: "Ignition stopped with an error.",
    cause: "The node refused a transaction, or the gas price rose.",
    remedy: "run the command again to resume",
  },
  FOLDER_NOT_WRITABLE: {
    means: "The manifest cannot be written.",
    cause: "The folder belongs to another user, is read-only, or the disk is full.",
    remedy: "choose another folder with `--to`",
  },
  JOURNAL_DAMAGED: {
    means: "Ignition's journal lacks an entry.",
    cause: "An earlier run was killed while it wrote, or the folder was edited.",
    remedy: "remove its folder, or choose another `--network`",
  },
  MANIFEST_EXISTS: {
    means: "Another checkout deployed under this name.",
    cause: "Someone else deployed, and the journal is not in this checkout.",
    remedy: "choose another `--network`",
  },
  MANIFEST_MISSING: {
    means: "There is no manifest at this path, or it is not JSON.",
    cause: "The name has a typo, or nothing was deployed under this name.",
  },
  NETWORK_INVALID: {
    means: "The name of a deployment is missing or contains characters other than a to z, 0 to 9 and -.",
    cause: "The name has a typo or upper-case letters.",
  },
  NODE_FAILED: {
    means: "The local chain did not start.",
    cause: "The machine has too little memory, or the installation of Hardhat is incomplete.",
  },
  NODE_UNREACHABLE: {
    means: "The node does not answer, or its answer is not valid JSON-RPC.",
    cause: "The URL is wrong, the node is down, or it limits requests.",
  },
  NO_FUNDS: {
    means: "The deploying account has no ETH on this chain.",
    cause: "The account is new, or the key is another account's.",
  },
  OPTION_INVALID: {
    means: "An option's value is out of range.",
    cause: "The value has a typo, or is in another unit.",
  },
  POOL_GONE: {
    means: "The journal belongs to a chain that was restarted.",
    cause: "A local chain loses its contracts when it stops.",
    remedy: "remove its folder",
  },
  PORT_BUSY: {
    means: "Another program listens on this port.",
    cause: "An earlier run still listens, or another program uses the port.",
    remedy: "choose another port with `--port`",
  },
  PORT_DENIED: {
    means: "The operating system refuses to open this port.",
    cause: "The port is below 1024, or reserved by the system.",
    remedy: "choose another port with `--port`",
  },
  SETTING_INVALID: {
    means: "A setting of Hardhat is missing or invalid, or the keystore's password is wrong.",
    cause: "The variable was never set with `hardhat keystore`, or has a typo.",
  },
  TOKEN_INVALID: {
    means: "There is no ERC-20 token at this address.",
    cause: "The address has a typo, or is the token's address on another chain.",
  },
  TRANSACTION_LOST: {
    means: "A sent transaction is not in a block yet.",
    cause: "The gas price is too low for the chain's load, or the node dropped the transaction.",
    remedy: "run the command again later",
  },

  // The local environment of `npm run dev`
  BUILD_FAILED: {
    means: "The build failed; its output is above the message.",
    cause: "A changed file has a mistake, or the installation is not complete.",
  },
  CHAIN_HISTORY_DAMAGED: {
    means: "The file of the local chain's blocks is malformed.",
    cause: "The machine lost power while it wrote, or the file was edited.",
    remedy: "add `--fresh`",
  },
  CHAIN_NOT_REPEATED: {
    means: "The node does not build the same blocks from the kept transactions, as after an update of Hardhat.",
    cause: "Hardhat was updated, or state was set by methods that are not recorded.",
    remedy: "add `--fresh`",
  },
  DEV_RUNNING: {
    means: "Another process uses the same state folder.",
    cause: "An earlier `npm run dev` has not ended.",
    remedy: "end it, or choose another `--state`",
  },
  INVALID_TRAFFIC: {
    means: "The rate of payments is out of range.",
    cause: "The rate has a typo, or is one that no machine reaches.",
  },
  STATE_OUTDATED: {
    means: "The circuits changed after the pool was deployed.",
    cause: "The circuits were changed, or another branch was checked out.",
    remedy: "add `--fresh`",
  },

  // `npm run release`
  NO_CHANGESETS: {
    means: "There is nothing to release.",
    cause: "No change since the last version has a changeset.",
    remedy: "`pnpm exec changeset`",
  },
  PACK_FAILED: { means: "A package could not be packed.", cause: "A package is not built, or the disk is full." },
  PACKAGE_UNFIT: {
    means: "A packed package is not fit to be published; the message lists why.",
    cause: "A new file, export or dependency is missing in package.json or in the build.",
  },

  // The demo: each of its steps checks its result
  BALANCES_DIFFER: {
    means: "A balance at the end of the demo is wrong.",
    cause: "The wallet or the service has a bug.",
  },
  CHILD_FAILED: {
    means: "The service, the resource servers or the traffic exited while starting.",
    cause: "A port is in use, the machine has too little memory, or the build is old.",
  },
  LEAKED: {
    means: "Public data of the demo contains a secret.",
    cause: "A bug writes a secret to the chain, a log or a response.",
  },
  NOT_APPENDED: {
    means: "The service did not append the demo's notes in time.",
    cause: "The machine is overloaded, or the relayer failed; its log says why.",
  },
  NOT_CHARGED: {
    means: "A resource server of the demo did not answer 402.",
    cause: "The paywall is not in front of the route, or its server failed.",
  },
  NOT_LINKED: {
    means: "The demo's phone number does not resolve to the merchant's wallet.",
    cause: "The registry refused the link, or returns another number's.",
  },
  NOT_PAID_ONCE: {
    means: "A request of the demo was not paid exactly once.",
    cause: "The client's journal or the server's claims have a bug.",
  },
  NOT_READ: {
    means: "The demo's viewing key does not read exactly the payments that were made.",
    cause: "The scanner has a bug, or a payment arrived that the demo did not expect.",
  },
  NOT_SERVED: {
    means: "A paid request of the demo was not answered with 200.",
    cause: "The resource server refused the proof; its log says why.",
  },
  NO_CODE: {
    means: "The demo's registry sent no code.",
    cause: "The registry's sender failed, or the machine is overloaded.",
  },
  NO_ORIGIN: {
    means: "The demo's server or bank did not see the origin of the payer's money.",
    cause: "The curator failed, or the machine is overloaded.",
  },
  OUT_OF_ORDER: {
    means: "A step of the demo ran before the one it depends on.",
    cause: "A step was added or moved in the demo's source.",
  },
  PAID_TWICE: { means: "The demo paid twice for one purchase.", cause: "The client's journal has a bug." },
  RESTORE_INCOMPLETE: {
    means: "The demo's restored wallet has a different balance than the original.",
    cause: "The scanner has a bug, or the chain does not show a note.",
  },
  SERVER_FAILED: {
    means: "A server of the demo (service, curator or resource server) failed without a code.",
    cause: "A port is in use, or the build is old; the output is above the message.",
  },

  // The benches
  BENCH_UNKNOWN: {
    means: "There is no bench of this name.",
    cause: "The name has a typo, or belongs to another version.",
  },
  BENCH_FAILED: {
    means: "At least one bench failed; the figures of the others are printed, and recorded with `--record`.",
    cause: "The output above has the error of each.",
    remedy: "run the failed ones again",
  },
  LOOP_FAILED: {
    means: "The bench `loop` cannot change the circuit, or a turn failed.",
    cause: "The circuit's source changed, so that the bench does not find the line that it edits.",
  },
  TREE_CHANGED: {
    means: "The bench `loop` would overwrite uncommitted files.",
    cause: "Someone works in this checkout.",
    remedy: "commit them",
  },
} satisfies ErrorTable;
