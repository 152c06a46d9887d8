// Two parties whom a <Dial> connects can only hear what the carrier plays to one of them after that
// one was taken out of the <Dial>, which ends it. They meet again in a conference of their own.

/**
 * Content of a <Dial>: a conference without music and beeps, which ends as soon as one of the two
 * leaves.
 */
export const conferenceNoun = (name: string): string =>
  '<Conference beep="false" waitUrl="" startConferenceOnEnter="true" ' +
  `endConferenceOnExit="true" maxParticipants="2">${name}</Conference>`;

/** TwiML for the party that hears the keys, and then joins the conference. */
export const keysTwiml = (digits: string, conference: string): string =>
  `<Response><Play digits="${digits.replace(/[^0-9*#w]/g, '')}"/>` +
  `<Dial>${conferenceNoun(conference)}</Dial></Response>`;
