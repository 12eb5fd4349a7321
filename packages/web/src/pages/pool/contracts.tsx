import { ErrorMessage } from "../../components/error-message.tsx";
import { Hash } from "../../components/hash.tsx";
import { Table } from "../../components/table.tsx";
import { Verbatim } from "../../components/verbatim.tsx";
import { poolFeed } from "../../engine/pool-feed.ts";
import { useAnswer } from "../../hooks/use-answer.ts";
import { useConfig } from "../../hooks/use-config.ts";

interface Properties {
  /** When the chain was restarted; a new value reads the contracts again. */
  readonly chain: number | undefined;
  /** Whether the page already reports that the chain cannot be read. */
  readonly quiet: boolean;
}

/** Code, constants and keys on chain, compared with the manifest's. */
export function Contracts({ chain, quiet }: Properties) {
  const config = useConfig();
  const { deployment } = config;
  const { value, failure } = useAnswer(`${deployment.pool} ${chain}`, () => poolFeed().checkContracts(config));
  const same = value?.contracts.every(({ expected, found }) => expected === found);
  return (
    <section className="card card-flush">
      <header>
        <h2>Contracts and keys</h2>
        {same !== undefined && (
          <span className="state" data-tone={same ? "good" : "bad"}>
            {same ? "the chain has the code of the manifest" : "the chain differs from the manifest"}
          </span>
        )}
      </header>
      <div className="card-body stack">
        <p className="soft small">
          This page compares the code on chain with its host's manifest. A verifier's code contains its verification
          key. Wallets check the circuits' files that they download against the hashes of their own version.
        </p>
        {failure !== undefined && !quiet && <ErrorMessage error={failure} tone="warn" />}
      </div>
      <Table caption="Contracts and keys" columns={["Name", "Address or value", "Hash", "Result"]}>
        {value?.contracts.map(({ name, address, expected, found }) => (
          <tr key={name}>
            <Cell>{name}</Cell>
            <td>
              <Hash value={address} name={`address of ${name}`} />
            </td>
            <td>
              <Hash value={found ?? expected} name={`code hash of ${name}`} />
            </td>
            <td>
              <Result ok={found === expected} bad={found === undefined ? "no contract" : "other code"} />
            </td>
          </tr>
        ))}
        {value?.constants.map(({ name, expected, found }) => (
          <tr key={`constant ${name}`}>
            <Cell>{`pool.${name}()`}</Cell>
            <td colSpan={2}>
              <Hash value={found} name={name} />
            </td>
            <td>
              <Result ok={found === expected} bad="differs" />
            </td>
          </tr>
        ))}
        {Object.entries(deployment.verificationKeys).map(([circuit, hash]) => (
          <tr key={`key ${circuit}`}>
            <td>{`${circuit} key`}</td>
            <td className="soft">{deployment.set}</td>
            <td>
              <Hash value={hash} name={`hash of the ${circuit} key`} />
            </td>
            <td className="soft">manifest</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** A name of the code. */
const Cell = ({ children }: { readonly children: string }) => (
  <td>
    <Verbatim>{children}</Verbatim>
  </td>
);

const Result = ({ ok, bad }: { readonly ok: boolean; readonly bad: string }) => (
  <span className="state" data-tone={ok ? "good" : "bad"}>
    {ok ? "same" : bad}
  </span>
);
