/** A circuit that divides. Without the check that b is not 0, a = b = 0 permits every q. */
export const division = (checked: boolean) => `pragma circom 2.0.0;
template Division() {
    signal input a;
    signal input b;
    signal output q;
    ${checked ? "signal inverse <-- 1 / b; inverse * b === 1;" : ""}
    q <-- a / b;
    q * b === a;
}
component main = Division();`;
