"""All kinds, in the order of the table of threats."""

from __future__ import annotations

from tests.attack.kind import Kind
from tests.attack.kinds import blocks, connections, payers, requests, servers, talk, webs

KINDS: tuple[type[Kind], ...] = (
    blocks.Branches,
    requests.BroadcastBlocks,
    blocks.Unlinked,
    blocks.Signatures,
    blocks.FewSignatures,
    requests.BroadcastSignatures,
    blocks.FarBlocks,
    requests.ManyNames,
    requests.Batches,
    connections.UnreadFrames,
    connections.Sockets,
    connections.Pages,
    requests.LargeRequests,
    requests.BadJson,
    blocks.Closes,
    connections.ClientCloses,
    talk.SilentPeers,
    connections.Subscriptions,
    talk.Exchange,
    talk.LargeAnswers,
    talk.UnreadAnswers,
    talk.SlowFrames,
    talk.Hellos,
    requests.LargeAnswers,
    connections.Fragments,
    connections.Smuggling,
    connections.SlowRequests,
    payers.Proposals,
    webs.WebOfClients,
    webs.WebOfPeers,
    webs.WebPayments,
    webs.WebPaymentsOfPeers,
    webs.WebQuestions,
    webs.WebProposals,
    servers.Snapshots,
    servers.LyingTime,
    payers.OrdinaryPeers,
    payers.OrdinaryClients,
)

BY_NAME = {kind.name: kind for kind in KINDS}
HOSTILE = tuple(kind for kind in KINDS if kind.is_hostile)
ORDINARY = tuple(kind for kind in KINDS if not kind.is_hostile)
