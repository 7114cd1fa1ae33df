// Broadcasts the kinds of operation that viz-js-lib offers and the chain still has, by that library's own means.
// The library is looked for in the working directory.
'use strict';
console.log = console.warn = console.error; // the library warns there, and what is printed here is JSON
const viz = require(require.resolve('viz-js-lib', { paths: [process.cwd()] }));

const KEY = '5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ';
const PUBLIC = 'VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8';
const AUTHORITY = { weight_threshold: 1, account_auths: [], key_auths: [[PUBLIC, 1]] };
const PROPERTIES = {
  account_creation_fee: '1.000 VIZ', maximum_block_size: 131072, create_account_delegation_ratio: 10,
  create_account_delegation_time: 2592000, min_delegation: '0.001 VIZ', min_curation_percent: 0,
  max_curation_percent: 10000, bandwidth_reserve_percent: 1000, bandwidth_reserve_below: '500.000000 SHARES',
  flag_energy_additional_cost: 0, vote_accounting_min_rshares: 500000, committee_request_approve_min_percent: 1000,
};
const NEWER_PROPERTIES = {
  inflation_witness_percent: 2000, inflation_ratio_committee_vs_reward_fund: 5000, inflation_recalc_period: 806400,
  data_operations_cost_additional_bandwidth: 0, witness_miss_penalty_percent: 100,
  witness_miss_penalty_duration: 86400, create_invite_min_balance: '10.000 VIZ',
  committee_create_request_fee: '100.000 VIZ', create_paid_subscription_fee: '100.000 VIZ',
  account_on_sale_fee: '10.000 VIZ', subaccount_on_sale_fee: '100.000 VIZ', witness_declaration_fee: '10.000 VIZ',
  withdraw_intervals: 28,
};
const [, , url, ...names] = process.argv; // of these operations alone, where some are named

const secrets = ['one', 'two', 'three'].map((each) => viz.auth.toWif('invite', each, 'active'));
const openings = secrets.map((each) => viz.auth.wifToPublic(each));
const pay = (from) => ({ op: ['transfer', { from, to: 'bob', amount: '1.000 VIZ', memo: '' }] });

function operations(now) {
  const later = (seconds) => new Date(now.getTime() + seconds * 1000).toISOString().slice(0, 19);
  const escrow = ['dan', 'bob', 'charlie'];
  return [
    ['transfer', 'dan', 'bob', '1.000 VIZ', 'привет'],
    ['transferToVesting', 'dan', 'dan', '1000.000 VIZ'],
    ['withdrawVesting', 'dan', '10.000000 SHARES'],
    ['accountUpdate', 'dan', undefined, undefined, undefined, PUBLIC, '{}'],
    ['accountMetadata', 'dan', '{"name":"Dan"}'],
    ['witnessUpdate', 'dan', 'http://dan', PUBLIC],
    ['accountWitnessVote', 'dan', 'viz', true],
    ['chainPropertiesUpdate', 'dan', PROPERTIES],
    ['versionedChainPropertiesUpdate', 'dan', [3, { ...PROPERTIES, ...NEWER_PROPERTIES }]],
    ['accountWitnessProxy', 'frank', 'dan'],
    ['custom', [], ['dan'], 'test', '{}'],
    ['setWithdrawVestingRoute', 'dan', 'bob', 100, false],
    ['delegateVestingShares', 'dan', 'bob', '100.000000 SHARES'],
    ['accountCreate', '1.000 VIZ', '10.000000 SHARES', 'dan', 'newcomer', AUTHORITY, AUTHORITY, AUTHORITY, PUBLIC,
      '{}', '', []],
    ['requestAccountRecovery', 'dan', 'newcomer', AUTHORITY, []],
    ['changeRecoveryAccount', 'newcomer', 'bob', []],
    ['escrowTransfer', 'dan', 'bob', '5.000 VIZ', 7, 'charlie', '0.100 VIZ', '{}', later(3000), later(6000)],
    ['escrowApprove', ...escrow, 'bob', 7, true],
    ['escrowApprove', ...escrow, 'charlie', 7, true],
    ['escrowDispute', ...escrow, 'dan', 7],
    ['escrowRelease', ...escrow, 'charlie', 'bob', 7, '5.000 VIZ'],
    ['proposalCreate', 'dan', 'lunch', 'who pays', later(6000), [pay('dan'), pay('alice')], later(3000), []],
    ['proposalUpdate', 'dan', 'lunch', ['dan'], [], [], [], [], [], [], [], []],
    ['proposalDelete', 'dan', 'lunch', 'dan', []],
    ['committeeWorkerCreateRequest', 'dan', 'http://work', 'dan', '1.000 VIZ', '10.000 VIZ', 5 * 86400],
    ['committeeVoteRequest', 'dan', 1, 5000],
    ['committeeWorkerCancelRequest', 'dan', 1],
    ...openings.map((each) => ['createInvite', 'dan', '20.000 VIZ', each]),
    ['claimInviteBalance', 'bob', 'bob', secrets[0]],
    ['inviteRegistration', 'bob', 'invited', secrets[1], PUBLIC],
    ['useInviteBalance', 'bob', 'bob', secrets[2]],
    ['award', 'dan', 'bob', 100, 0, 'thanks', [{ account: 'charlie', weight: 1000 }]],
    ['fixedAward', 'dan', 'bob', '0.010 VIZ', 2000, 0, 'thanks', []],
    ['setPaidSubscription', 'charlie', 'http://paper', 3, '1.000 VIZ', 30],
    ['paidSubscribe', 'dan', 'charlie', 1, '1.000 VIZ', 30, true],
    ['transfer', 'dan', 'newcomer', '200.000 VIZ', ''],
    ['setAccountPrice', 'newcomer', 'dan', '10.000 VIZ', true],
    ['setSubaccountPrice', 'newcomer', 'dan', '10.000 VIZ', true],
    ['targetAccountSale', 'alice', 'alice', 'bob', '10.000 VIZ', true],
  ];
}

async function main() {
  viz.config.set('websocket', url);
  const { CHAIN_ID } = await viz.api.getConfigAsync();
  viz.config.set('chain_id', CHAIN_ID);
  const { time } = await viz.api.getDynamicGlobalPropertiesAsync();
  const sent = [];
  for (const [name, ...values] of operations(new Date(time + 'Z'))) {
    if (names.length && !names.includes(name)) continue;
    const transaction = await viz.broadcast[name + 'Async'](KEY, ...values);
    sent.push(transaction.operations[0][0]);
  }
  if (url.startsWith('ws')) {
    viz.config.set('broadcast_transaction_with_callback', true);
    await viz.broadcast.transferAsync(KEY, 'dan', 'bob', '1.000 VIZ', 'called back');
    sent.push('transfer');
  }
  const answers = {
    getAccounts: await viz.api.getAccountsAsync(['dan', 'newcomer']),
    getAccountHistory: await viz.api.getAccountHistoryAsync('dan', -1, 5),
    getKeyReferences: await viz.api.getKeyReferencesAsync([PUBLIC]),
    getWitnessByAccount: await viz.api.getWitnessByAccountAsync('dan'),
    getActiveWitnesses: await viz.api.getActiveWitnessesAsync(),
    getPaidSubscriptions: await viz.api.getPaidSubscriptionsAsync(0, 10),
  };
  process.stdout.write(JSON.stringify({ sent, answers }), () => process.exit(0));
}

main().catch((fault) => {
  console.error(fault);
  process.exit(1);
});
