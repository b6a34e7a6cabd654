"""What operators and groups a person has at hand: favourites, statistics, own and published groups, torch's pages."""
