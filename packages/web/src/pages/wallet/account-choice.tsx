import { Verbatim } from "../../components/verbatim.tsx";
import { useInjectedWallets } from "../../hooks/page-signer.ts";

/** The test account, or the rdns of a wallet. */
export const TEST_ACCOUNT = "test";

interface Properties {
  readonly value: string;
  onChange(value: string): void;
}

/** Chooses the Ethereum account that signs. */
export function AccountChoice({ value, onChange }: Properties) {
  const wallets = useInjectedWallets();
  return (
    <fieldset className="choices">
      <legend>Ethereum account</legend>
      <label className="choice">
        <input type="radio" name="account" checked={value === TEST_ACCOUNT} onChange={() => onChange(TEST_ACCOUNT)} />
        This browser's test account
      </label>
      {wallets.map(({ info }) => (
        <label key={info.uuid} className="choice">
          <input type="radio" name="account" checked={value === info.rdns} onChange={() => onChange(info.rdns)} />
          <img src={info.icon} alt="" width="18" height="18" /> <Verbatim>{info.name}</Verbatim>
        </label>
      ))}
      {wallets.length === 0 && <p className="small soft">This browser has no other Ethereum wallet.</p>}
    </fieldset>
  );
}
