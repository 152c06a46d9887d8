// Two parties whom a <Dial> connects can only hear what the carrier plays to one of them after that
// one was taken out of the <Dial>, which ends it. They meet again in a conference of their own.

/**
 * The conference of that name as the content of a <Dial>. It has no music and no beeps, and ends as
 * soon as one of the two leaves.
 */
export const conferenceNoun = (name: string): string =>
  '<Conference beep="false" waitUrl="" startConferenceOnEnter="true" ' +
  `endConferenceOnExit="true" maxParticipants="2">${name}</Conference>`;

/** What a party gets that is to hear keys: these, then the conference. */
export const keysTwiml = (digits: string, conference: string): string =>
  `<Response><Play digits="${digits.replace(/[^0-9*#w]/g, '')}"/>` +
  `<Dial>${conferenceNoun(conference)}</Dial></Response>`;
