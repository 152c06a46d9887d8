/** Removes a deleted record from all teams, and deletes the team that was generated for it. */
export { leaveTeams } from './queries/teams';
